"""Write the handout's tables of points from the case table (`make handout`).

    python -m instructor.references.handout [--check]

A table is what stands between `<!-- points:begin -->` and `<!-- points:end -->`, and between the
same marks with `bonus`. The heading of a problem is written by hand; a test compares it.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.assignment import MINBERT
from grader.exercise import PARTS, Assignment, Exercise
from grader.files import ROOT, write_whole
from grader.handout import slug as slug
from instructor.files import put_between

HANDOUT = ROOT / "handout.md"
HEADER = f"| problem | {' | '.join(PARTS)} | points |"
RULE = f"| --- |{' ---: |' * (len(PARTS) + 1)}"


class HandoutError(ValueError):
    """The handout lacks something; the message names it."""


def heading(text: str, exercise: Exercise) -> str:
    """Return the heading of an exercise's problem.

    Raises:
        HandoutError: there is none.
    """
    found = re.search(rf"^### (Problem \({exercise.id}\): .+)$", text, re.MULTILINE)
    if found is None:
        raise HandoutError(f"there is no heading `### Problem ({exercise.id}): ...`")
    return found[1]


def table(text: str, exercises: Iterable[Exercise]) -> str:
    """Return the table of these exercises, with links to their problems."""
    rows = []
    for one in exercises:
        points = [f"{one.points[part]:g}" if part in one.points else "" for part in PARTS]
        cells = [f"[{one.id}](#{slug(heading(text, one))})", *points, f"{one.max_score:g}"]
        rows.append(re.sub(" +", " ", f"| {' | '.join(cells)} |"))
    return "\n" + "\n".join([HEADER, RULE, *rows]) + "\n"


def with_tables(text: str, assignment: Assignment) -> str:
    """Return the handout with both tables brought up to date.

    Raises:
        HandoutError: a problem or the marks of a table are missing.
    """
    for mark, bonus in (("points", False), ("bonus", True)):
        chosen = [one for one in assignment.exercises if one.extension is bonus]
        try:
            text = put_between(text, mark, table(text, chosen))
        except ValueError as error:
            raise HandoutError(str(error)) from error
    return text


def main(arguments: Sequence[str] | None = None, path: Path = HANDOUT) -> int:
    """Write the tables, or with --check only compare."""
    parser = argparse.ArgumentParser(prog="handout", description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail on drift")
    check = parser.parse_args(arguments).check
    text = path.read_text(encoding="utf-8")
    try:
        new = with_tables(text, MINBERT)
    except HandoutError as error:
        print(f"handout: {path}: {error}", file=sys.stderr)
        return 2
    if new == text:
        print("the tables of handout.md are up to date")
        return 0
    if check:
        print("the tables of handout.md have drifted; run `make handout`", file=sys.stderr)
        return 1
    write_whole(path, new)
    print("wrote the tables of handout.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
