"""Writes a sheet for marking written questions: `tensormark sheet SUBMISSIONS`."""

import argparse
import functools
import shlex
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from tensormark import usage
from tensormark.classroom.entry import first_of, number_of
from tensormark.classroom.options import submissions
from tensormark.classroom.points.rubric import read_rubric
from tensormark.classroom.points.sheet import write_sheet
from tensormark.classroom.students.file_names import real
from tensormark.classroom.students.hand_ins import find
from tensormark.folder import open_assignment
from tensormark.intake.submission import SubmissionError
from tensormark.reports.text import print_any_letter, shown
from tensormark.sandbox.interface import printable
from tensormark.usage import command, option


def _parsed(folder: Path, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    command_line = usage.parser(name, "Write a sheet for marking written questions.")
    add, folder_of = command_line.add_argument, functools.partial(submissions, name)
    add("submissions", type=folder_of, help="the folder with the submissions")
    add("--roster", type=Path, help="a CSV file with the students")
    add("--canvas", type=Path, help="a gradebook exported from Canvas")
    default = "file to write (default: %(default)s)"
    add("--out", type=Path, default=folder / "sheet.csv", help=default)
    options = command_line.parse_args(arguments)
    if real(options.out).is_relative_to(real(options.submissions)):
        out = option("out", options.out)
        raise SubmissionError(f"{out}: must not be inside the folder with the submissions")
    return options


def _write(folder: Path, options: argparse.Namespace) -> None:
    """Write the sheet, and say what is in it and what to do next."""
    assignment = open_assignment(folder)
    questions = read_rubric(assignment)
    lists = {key: value for key in ("roster", "canvas") if (value := getattr(options, key))}
    people = next(iter(lists.values()), None)
    own_files = [*lists.values(), options.out]
    hand_ins = find(options.submissions, assignment.editable, people, own=own_files)
    count, ambiguous = write_sheet(options.out, hand_ins, questions)
    total = shown(sum((question.most for question in questions), Decimal(0)))
    size = f"{number_of(count, 'student')}, {number_of(len(questions), 'question')}, {total} points"
    print(printable(f"wrote {options.out}: {size}"))
    if ambiguous:
        who = first_of(ambiguous)
        print(f"left out, as their names are ambiguous: {who}; give {option('roster')} with ids")
    variables = {"submissions": options.submissions, **lists, "written": options.out}
    line = command("class", **{key: shlex.quote(str(value)) for key, value in variables.items()})
    print(printable(f"next: fill it in, and {line}"))


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write a sheet; return the exit status."""
    print_any_letter()
    _write(folder, _parsed(folder, name, arguments))
    return 0
