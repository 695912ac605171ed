"""Writes submissions to measure with, of the kinds that a class hands in."""

import random
import re
from collections.abc import Collection
from pathlib import Path

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.authoring.course import open_course
from tests.hostile.shared import completed

HOSTILE = ROOT / "tests" / "hostile" / "submissions"
# folders of HOSTILE whose submissions are graded quickly
QUICK_GROUPS = ("exit_forging", "patching", "result_forging", "secrets", "state")
SHARE_OF_KIND = {"correct": 40, "wrong": 25, "hostile": 15, "untouched": 12, "odd": 8}
HARMLESS_KINDS = ("correct", "wrong", "untouched")
ODD_SOURCES = (
    "",
    "def attention(:\n",
    "import a_package_that_nobody_has\n",
    "raise RuntimeError('to do')\n",
    "class BertModel: pass\n",
    "\N{MULTIPLICATION SIGN}" * 1000,
)


def texts() -> dict[str, list[str]]:
    """Return sources of bert.py, by kind."""
    solution = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    attack_paths = [
        path for folder in QUICK_GROUPS for path in sorted((HOSTILE / folder).glob("*.py"))
    ]
    attack_sources = [completed(path.read_text(encoding="utf-8")) for path in attack_paths]
    course = open_course(ASSIGNMENT)
    honest = [variant.apply(solution) for variant in course.honest if variant.module == "bert"]
    return {
        "correct": [solution, *honest],
        "wrong": [v.apply(solution) for v in course.variants if v.module == "bert"],
        # attacks on another file, or with a placeholder for the grader's folder, need tests/hostile
        "hostile": [
            solution + code for code in attack_sources if not re.search(r"# file:|\{[A-Z]+\}", code)
        ],
        "untouched": [(ROOT / "starter" / "bert.py").read_text(encoding="utf-8")],
        "odd": list(ODD_SOURCES),
    }


def kinds_by_share(count: int, kinds: Collection[str]) -> list[str]:
    """Return `count` kinds in proportion to their shares, by largest remainders."""
    total = sum(SHARE_OF_KIND[kind] for kind in kinds)
    exact_counts = {kind: count * SHARE_OF_KIND[kind] / total for kind in kinds}
    counts = {kind: int(share) for kind, share in exact_counts.items()}
    by_remainder = sorted(exact_counts, key=lambda kind: counts[kind] - exact_counts[kind])
    for kind in by_remainder[: count - sum(counts.values())]:
        counts[kind] += 1
    return [kind for kind in kinds for _ in range(counts[kind])]


def write_class(
    folder: Path, count: int, seed: int, kinds: Collection[str] = tuple(SHARE_OF_KIND)
) -> list[Path]:
    """Write `count` submissions into a new folder, no two of them the same."""
    rng, sources = random.Random(seed), texts()
    kinds_in_order = kinds_by_share(count, kinds)
    rng.shuffle(kinds_in_order)
    folder.mkdir(parents=True)
    paths = [folder / f"student{number:05}.py" for number in range(count)]
    for number, (path, kind) in enumerate(zip(paths, kinds_in_order, strict=True)):
        path.write_text(f"{rng.choice(sources[kind])}\n# number {number}\n", encoding="utf-8")
    return paths
