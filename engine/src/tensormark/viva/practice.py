"""The command `tensormark viva`: answer questions about your own functions, explained at once.

The submission is checked first, because questions are asked only about functions that are right.

Exit status: 0 if there were questions, whatever was answered; 1 if there is nothing to ask about; 2
if the submission cannot be read or an option is invalid; 130 if it was interrupted.
"""

import argparse
import functools
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import PAGE, check_replaceable, write_whole
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.process import READER
from tensormark.reports import pages
from tensormark.reports.terminal import LiveLine
from tensormark.reports.text import escape_unencodable_output
from tensormark.result import Outcome
from tensormark.sandbox.tiers import PROCESS
from tensormark.settings import TIER, Settings, submission_parser, tier, whole_number
from tensormark.usage import option
from tensormark.viva import sheet_page
from tensormark.viva.draw import questions
from tensormark.viva.question import Sheet

MAX_QUESTIONS = 20
DEFAULT_QUESTIONS = 5


def sheet_of(assignment: Assignment, options: argparse.Namespace) -> Sheet:
    """Check a submission, and draw questions on the functions that are right.

    Raises:
        SubmissionError: it cannot be read. InspectionError: no submission can be inspected here.
        WorkerStartError: the tier is not available.
    """
    live_line = LiveLine(sys.stderr)
    grading = Grading(Settings.of(assignment.folder, tier=options.tier), assignment)
    submission = grading.read(options.submission)
    live_line.say("checking which functions are right")
    results = grading.grade(submission, check=True).results
    right = [result.id for result in results if result.outcome is Outcome.PASSED]
    number = options.number
    count = functools.partial(live_line.count, "computing questions", total=number)
    sheet = questions(grading, submission, right, options.seed, number, count)
    live_line.clear()
    return sheet


def ask(sheet: Sheet, options: argparse.Namespace) -> None:
    """Ask the questions on a page."""
    seed = option("seed", options.seed)
    for note in sheet.notes:
        print(f"note: {note}")
    write_whole(options.out, sheet_page.practice(sheet))
    opened = options.open and pages.show(options.out)
    hint = ", opened in your browser" if opened else "; open it in a browser"
    number = len(sheet.questions)
    print(f"{number} question{'s' * (number > 1)}: {options.out}{hint}")
    print(f"these questions have {seed}; without it, each run asks others")


def parse(folder: Path, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line.

    Raises:
        SubmissionError: an option is invalid. FileExistsError: the page would replace something.
    """
    command_line = submission_parser(folder, name, "Answer questions on your own functions.")
    add = command_line.add_argument
    about = f"number of questions, at most {MAX_QUESTIONS} (default: {DEFAULT_QUESTIONS})"
    count = functools.partial(whole_number, "n", MAX_QUESTIONS)
    add("--number", "--n", type=count, default=DEFAULT_QUESTIONS, help=about)
    add("--seed", default="", help="seed to draw the questions with (default: a new one each time)")
    add("--out", type=Path, default=Path("viva.html"), help="page to write (default: %(default)s)")
    add("--open", action="store_true", help="open the page in a browser")
    add("--tier", type=tier, default=PROCESS, help=f"{TIER} (default: %(default)s)")
    options = command_line.parse_args(arguments)
    options.seed = options.seed or str(secrets.randbelow(10**6))
    check_replaceable(options.out, PAGE, option("out", options.out))
    return options


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Ask about the submission that the command line names."""
    escape_unencodable_output()
    options = parse(folder, name, arguments)
    READER.start()
    sheet = sheet_of(open_assignment(folder), options)
    if not sheet.questions:
        print("\n".join(sheet.notes))
        return 1
    ask(sheet, options)
    return 0
