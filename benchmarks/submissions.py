"""Submissions to measure with, as a class hands them in: right, wrong, hostile, untouched, odd."""

import random
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.authoring.course import open_course
from tests.hostile.shared import completed

HOSTILE = ROOT / "tests" / "hostile" / "submissions"
QUICK = ("exit_forging", "patching", "result_forging", "secrets", "state")  # folders of HOSTILE
SHARES = {"right": 40, "wrong": 25, "hostile": 15, "untouched": 12, "odd": 8}
HARMLESS = ("right", "wrong", "untouched")
ODD = (
    "",
    "def attention(:\n",
    "import a_package_that_nobody_has\n",
    "raise RuntimeError('to do')\n",
    "class BertModel: pass\n",
    "\N{MULTIPLICATION SIGN}" * 1000,
)


def edited(source: str, edits: Sequence[tuple[str, str]]) -> str:
    """Return a source with the first occurrence of each old text replaced."""
    for old, new in edits:
        source = source.replace(old, new, 1)
    return source


def texts() -> dict[str, list[str]]:
    """Return sources of bert.py, by kind."""
    right = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    attacks = [path for folder in QUICK for path in sorted((HOSTILE / folder).glob("*.py"))]
    codes = [completed(path.read_text(encoding="utf-8")) for path in attacks]
    course = open_course(ASSIGNMENT)
    honest = [variant.apply(right) for variant in course.honest if variant.module == "bert"]
    return {
        "right": [right, *honest],
        "wrong": [edited(right, v.edits) for v in course.variants if v.module == "bert"],
        # those for another file, or with a placeholder for a grader's place, only fit tests/hostile
        "hostile": [right + code for code in codes if not re.search(r"# file:|\{[A-Z]+\}", code)],
        "untouched": [(ROOT / "starter" / "bert.py").read_text(encoding="utf-8")],
        "odd": list(ODD),
    }


def apportioned(count: int, kinds: Collection[str]) -> list[str]:
    """Return `count` kinds in proportion to their shares, by largest remainders."""
    whole = sum(SHARES[kind] for kind in kinds)
    exact = {kind: count * SHARES[kind] / whole for kind in kinds}
    seats = {kind: int(share) for kind, share in exact.items()}
    by_remainder = sorted(exact, key=lambda kind: seats[kind] - exact[kind])
    for kind in by_remainder[: count - sum(seats.values())]:
        seats[kind] += 1
    return [kind for kind in kinds for _ in range(seats[kind])]


def write_class(
    folder: Path, count: int, seed: int, kinds: Collection[str] = tuple(SHARES)
) -> list[Path]:
    """Write `count` submissions into a new folder, no two of them the same."""
    rng, sources = random.Random(seed), texts()
    chosen = apportioned(count, kinds)
    rng.shuffle(chosen)
    folder.mkdir(parents=True)
    paths = [folder / f"student{number:05}.py" for number in range(count)]
    for number, (path, kind) in enumerate(zip(paths, chosen, strict=True)):
        path.write_text(f"{rng.choice(sources[kind])}\n# number {number}\n", encoding="utf-8")
    return paths
