"""Classes to measure with: what students hand in, right and wrong, and now and then something bad.

Of a hundred submissions 40 have a known mistake, 25 are correct and written in their own way, 15
are as they were given, 12 are the solution, 7 are hostile, and one hangs. No two are the same.
"""

import random
import re
from collections.abc import Sequence
from pathlib import Path

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.authoring.course import open_course
from tensormark.classroom.work import Terms, Work
from tensormark.classroom.worker import Answer
from tests.hostile.shared import completed

HOSTILE = ROOT / "tests" / "hostile" / "submissions"
QUICK = ("exit_forging", "patching", "result_forging", "secrets", "state")  # folders of HOSTILE
SHARES = {"wrong": 40, "honest": 25, "untouched": 15, "right": 12, "hostile": 7, "hanging": 1}
HANGS = "\n\ndef hangs(self, input_ids):\n    while True: pass\n\n\nBertModel.embed = hangs\n"


def edited(source: str, edits: Sequence[tuple[str, str]]) -> str:
    """Return a source with some of its text replaced, wherever it first is."""
    for old, new in edits:
        source = source.replace(old, new, 1)
    return source


def kinds() -> dict[str, list[str]]:
    """Return the texts of bert.py of each kind."""
    right = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    attacks = [path for folder in QUICK for path in sorted((HOSTILE / folder).glob("*.py"))]
    course = open_course(ASSIGNMENT)
    codes = [completed(path.read_text(encoding="utf-8")) for path in attacks]
    return {
        "wrong": [edited(right, one.edits) for one in course.variants if one.module == "bert"],
        "honest": [one.apply(right) for one in course.honest if one.module == "bert"],
        "untouched": [(ROOT / "starter" / "bert.py").read_text(encoding="utf-8")],
        "right": [right],
        # those that name another file, or places of a grader, are made for tests/hostile
        "hostile": [right + code for code in codes if not re.search(r"# file:|\{[A-Z]+\}", code)],
        "hanging": [right + HANGS],
    }


def write_class(folder: Path, count: int, seed: int, without: Sequence[str] = ()) -> dict[str, str]:
    """Write so many submissions; return the kind of each by its file name.

    Args:
        without: kinds that are left out.
    """
    rng, texts = random.Random(seed), kinds()
    names = [name for name in SHARES if name not in without]
    whole = [name for name in names for _ in range(SHARES[name])]
    chosen = [whole[n * len(whole) // count % len(whole)] for n in range(count)]
    if count > len(whole):
        chosen = [whole[n % len(whole)] for n in range(count)]
    rng.shuffle(chosen)
    folder.mkdir(parents=True)
    made = {}
    for number, kind in enumerate(chosen):
        name = f"student{number:05}.py"
        text = rng.choice(texts[kind])
        (folder / name).write_text(f"{text}\n# number {number}\n", encoding="utf-8")
        made[name] = kind
    return made


def echo(work: Work, terms: Terms, parcel: str, content: bytes) -> Answer:
    """Answer at once, with a result of the usual size: what is left are the costs around it."""
    one = {"id": "attention", "outcome": "passed", "score": 1.0, "max_score": 1.0, "bonus": False}
    texts = {"mistake": None, "message": "x" * 1000}
    return Answer("", "", result={"exercises": [one | texts | {"id": str(n)} for n in range(18)]})
