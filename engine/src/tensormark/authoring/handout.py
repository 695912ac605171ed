"""Write the handout's tables of points: `tensormark handout`.

A table goes between `<!-- points:begin -->` and `<!-- points:end -->` on any page of the handout;
bonus exercises have their own, between the same marks with `bonus`. The heading of a problem is
written by hand.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from posixpath import dirname, relpath

from tensormark.authoring.course import Course, open_course
from tensormark.exercise import PARTS, Assignment, Exercise
from tensormark.files import put_between, write_whole
from tensormark.folder import open_assignment
from tensormark.handout import MAIN, blocks, slug
from tensormark.usage import UserError, command, parser

POINTS = re.compile(r"\((\d+(?:\.\d+)?) points\b")  # in a heading


def problem(pages: Mapping[str, str], exercise: Exercise) -> tuple[str, str]:
    """Return the page of an exercise's problem, and its heading.

    Raises:
        UserError: there is none.
    """
    for page, text in pages.items():
        match = re.search(rf"^### (Problem \({exercise.id}\): .+)$", text, re.MULTILINE)
        if match is not None:
            return page, match[1]
    raise UserError(f"there is no heading `### Problem ({exercise.id}): ...`")


def _row(pages: Mapping[str, str], page: str, exercise: Exercise, parts: Sequence[str]) -> str:
    home, heading = problem(pages, exercise)
    link = "" if home == page else relpath(home, dirname(page))
    points = [f"{exercise.points[part]:g}" if part in exercise.points else "" for part in parts]
    cells = [f"[{exercise.id}]({link}#{slug(heading)})", *points, f"{exercise.max_score:g}"]
    return re.sub(" +", " ", f"| {' | '.join(cells)} |")


def with_tables(pages: Mapping[str, str], assignment: Assignment) -> dict[str, str]:
    """Return the handout's pages with up-to-date tables.

    Raises:
        ValueError: a problem or the marks of a table are missing.
    """
    new = dict(pages)
    parts = [part for part in PARTS if any(part in each.points for each in assignment.exercises)]
    head = f"| problem | {' | '.join(parts)} | points |\n| --- |{' ---: |' * (len(parts) + 1)}"
    for mark, bonus in (("points", False), ("bonus", True)):
        chosen = [exercise for exercise in assignment.exercises if exercise.extension is bonus]
        page = next((page for page in pages if f"<!-- {mark}:begin -->" in pages[page]), MAIN)
        if not chosen and f"<!-- {mark}:begin -->" not in pages[page]:
            continue
        rows = [_row(pages, page, exercise, parts) for exercise in chosen]
        new[page] = put_between(new[page], mark, "\n" + "\n".join([head, *rows]) + "\n")
    return new


def disagreements(pages: Mapping[str, str], course: Course) -> list[str]:
    """Return where a handout differs from the assignment, and which of its tables are out of date.

    Raises:
        ValueError, UserError: a problem or the marks of a table are missing.
    """
    wrong = []
    for exercise in course.assignment.exercises:
        match = POINTS.search(problem(pages, exercise)[1])
        if match and float(match[1]) != exercise.max_score:
            about = f"says {match[1]} points; it has {exercise.max_score:g}"
            wrong.append(f"Problem ({exercise.id}) {about}")
    for variant in course.variants:
        home, _ = problem(pages, course.assignment.exercise(variant.exercise))
        if variant.section and f"**{variant.section}**" not in pages[home]:
            what = f"which the mistake {variant.id} points to"
            wrong.append(f"there is no **{variant.section}**, {what}")
    rules = course.assignment.policy.section
    if rules and rules not in (title for title, _ in blocks(pages[MAIN])):
        wrong.append(f"there is no heading {rules!r}, which reports of forbidden code point to")
    for page, text in with_tables(pages, course.assignment).items():
        if text != pages[page]:
            wrong.append(f"the tables of {page} are out of date; run `{command('handout')}`")
    return wrong


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write the tables, or with --check only compare; fail where the text disagrees."""
    command_line = parser(name, "Write the handout's tables of points.")
    about = "write nothing; fail if a table is out of date"
    command_line.add_argument("--check", action="store_true", help=about)
    check = command_line.parse_args(arguments).check
    course = open_course(open_assignment(folder))
    try:
        pages = course.assignment.handout.read()
        new = with_tables(pages, course.assignment)
        wrong = disagreements(pages if check else new, course)
    except (UserError, OSError, ValueError) as error:
        raise UserError(f"{folder / MAIN}: {error}") from error
    if wrong:
        print("\n".join(f"{name}: {folder / MAIN}: {line}" for line in wrong), file=sys.stderr)
        return 1
    drifted = [page for page, text in new.items() if text != pages[page]]
    for page in drifted:
        write_whole(folder / page, new[page])
        print(f"wrote the tables of {page}")
    if not drifted:
        print("the tables of the handout are up to date")
    return 0
