"""Write the handout's tables of points: `tensormark handout`.

A table is what stands between `<!-- points:begin -->` and `<!-- points:end -->`, and, where an
exercise is a bonus, between the same marks with `bonus`. The heading of a problem is written by
hand.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tensormark.authoring.course import Course, open_course
from tensormark.exercise import PARTS, Assignment, Exercise
from tensormark.files import write_whole
from tensormark.folder import open_assignment
from tensormark.folders import put_between
from tensormark.handout import slug as slug
from tensormark.usage import command, parser

POINTS = re.compile(r"\((\d+(?:\.\d+)?) points\b")  # in a heading
HEADER = f"| problem | {' | '.join(PARTS)} | points |"
RULE = f"| --- |{' ---: |' * (len(PARTS) + 1)}"


class HandoutError(ValueError):
    """The handout lacks something; the message names it."""


def heading(text: str, exercise: Exercise) -> str:
    """Return the heading of an exercise's problem.

    Raises:
        HandoutError: there is none.
    """
    match = re.search(rf"^### (Problem \({exercise.id}\): .+)$", text, re.MULTILINE)
    if match is None:
        raise HandoutError(f"there is no heading `### Problem ({exercise.id}): ...`")
    return match[1]


def _table(text: str, exercises: Iterable[Exercise]) -> str:
    rows = []
    for exercise in exercises:
        points = [f"{exercise.points[part]:g}" if part in exercise.points else "" for part in PARTS]
        cells = [
            f"[{exercise.id}](#{slug(heading(text, exercise))})",
            *points,
            f"{exercise.max_score:g}",
        ]
        rows.append(re.sub(" +", " ", f"| {' | '.join(cells)} |"))
    return "\n" + "\n".join([HEADER, RULE, *rows]) + "\n"


def with_tables(text: str, assignment: Assignment) -> str:
    """Return the handout with its tables brought up to date.

    Raises:
        HandoutError: a problem or the marks of a table are missing.
    """
    for mark, bonus in (("points", False), ("bonus", True)):
        chosen = [exercise for exercise in assignment.exercises if exercise.extension is bonus]
        if not chosen and f"<!-- {mark}:begin -->" not in text:
            continue
        try:
            text = put_between(text, mark, _table(text, chosen))
        except ValueError as error:
            raise HandoutError(str(error)) from error
    return text


def _disagreements(text: str, course: Course) -> Iterator[str]:
    """Yield where the points differ from the real ones, or what a mistake points to is missing."""
    for exercise in course.assignment.exercises:
        match = POINTS.search(heading(text, exercise))
        if match and float(match[1]) != exercise.max_score:
            yield f"Problem ({exercise.id}) says {match[1]} points; it has {exercise.max_score:g}"
    for variant in course.variants:
        if variant.section and f"**{variant.section}**" not in text:
            yield f"there is no **{variant.section}**, which the mistake {variant.id} points to"


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write the tables, or with --check only compare; fail where the text disagrees."""
    command_line = parser(name, "Write the handout's tables of points.")
    command_line.add_argument("--check", action="store_true", help="write nothing; fail on drift")
    check = command_line.parse_args(arguments).check
    course = open_course(open_assignment(folder))
    path = course.assignment.handout
    try:
        text = path.read_text(encoding="utf-8")
        new = with_tables(text, course.assignment)
        wrong = list(_disagreements(text, course))
    except (HandoutError, OSError, UnicodeDecodeError) as error:
        print(f"{name}: {path}: {error}", file=sys.stderr)
        return 2
    if wrong:
        print("\n".join(f"{name}: {path}: {line}" for line in wrong), file=sys.stderr)
        return 1
    if new == text:
        print("the tables of handout.md are up to date")
        return 0
    if check:
        print(f"the tables of handout.md have drifted; run `{command('handout')}`", file=sys.stderr)
        return 1
    write_whole(path, new)
    print("wrote the tables of handout.md")
    return 0
