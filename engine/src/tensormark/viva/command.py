"""The command `tensormark viva`: answer questions about your own functions, explained at once.

The submission is checked first, because questions are asked only about functions that are right.

Exit status: 0 if there were questions, whatever was answered; 1 if there is nothing to ask about; 2
if the submission cannot be read or an option is invalid; 130 if it was interrupted.
"""

import argparse
import contextlib
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import write_whole
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.door import DOOR
from tensormark.intake.submission import SubmissionError, read_submission
from tensormark.reports import browser
from tensormark.reports.live import LiveLine
from tensormark.reports.text import print_any_letter
from tensormark.result import Outcome
from tensormark.sandbox.interface import PROCESS, Program, Sandbox
from tensormark.sandbox.process import ProcessSandbox
from tensormark.sandbox.tiers import open_sandbox
from tensormark.sandbox.worker_process import WorkerProcess
from tensormark.settings import (
    HELP,
    PAGE,
    Settings,
    check_writable,
    submission_parser,
    tier,
    whole_number,
    with_default,
)
from tensormark.usage import option
from tensormark.viva import page, terminal
from tensormark.viva.draw import questions
from tensormark.viva.question import Sheet, labelled

MAX_QUESTIONS, DEFAULT_QUESTIONS = 20, 5
MAX_SEED_LENGTH = 100


class OneSandbox:
    """Opens one sandbox and reuses it, so that torch is imported only once."""

    def __init__(self, started: WorkerProcess | None) -> None:
        self.started, self.stack = started, contextlib.ExitStack()
        self.sandbox: Sandbox | None = None

    def __call__(self, name: str, program: Program) -> "contextlib.nullcontext[Sandbox]":
        """Return the sandbox, with a program's sources."""
        if self.sandbox is None:
            started = ProcessSandbox(program, self.started) if self.started else None
            self.sandbox = self.stack.enter_context(started or open_sandbox(name, program))
        self.sandbox.reload(program.sources)
        return contextlib.nullcontext(self.sandbox)


def sheet_of(
    assignment: Assignment, options: argparse.Namespace, started: WorkerProcess | None
) -> Sheet:
    """Check a submission, and draw questions on the functions that are right.

    Raises:
        SubmissionError: it cannot be read. InspectionError: no submission can be inspected here.
        WorkerStartError: the tier is not available.
    """
    opener, live_line = OneSandbox(started), LiveLine(sys.stderr)
    settings = Settings.of(assignment.folder, tier=options.tier)
    grading = Grading(settings, assignment, opener)
    path = options.submission
    submission = read_submission(path, assignment.editable, grading.given.others_in(Path(path)))
    with opener.stack:
        live_line.say("checking which functions are right")
        results = grading.grade_read(submission, check=True).results
        right = {result.id for result in results if result.outcome is Outcome.PASSED}
        sheet = questions(
            grading,
            submission,
            right,
            options.seed,
            options.number,
            lambda done: live_line.count("computing questions", done, options.number),
        )
        live_line.clear()
    return labelled(sheet)


def ask(sheet: Sheet, options: argparse.Namespace) -> None:
    """Ask the questions, on a page or on the terminal."""
    seed = option("seed", options.seed)
    if options.page == "no":
        terminal.practice(sheet)
        print(f"For the same questions again: {seed}")
        return
    write_whole(options.out, page.practice(sheet))
    opened = options.open and browser.show(options.out)
    hint = ", opened in your browser" if opened else "; open it in a browser"
    for note in sheet.notes:
        print(f"note: {note}")
    number = len(sheet.questions)
    print(f"{number} question{'s' * (number > 1)}: {options.out}{hint}")
    print(f"for other questions, run it again; for the same ones, add {seed}")


def parse(folder: Path, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line.

    Raises:
        SubmissionError: an option is invalid. FileExistsError: the page would replace something.
    """
    command_line = submission_parser(folder, name, "Answer questions on your own functions.")
    add = command_line.add_argument
    number = f"number of questions, at most {MAX_QUESTIONS} (default: {DEFAULT_QUESTIONS})"
    add(
        "--number",
        "--n",
        type=lambda text: whole_number("n", MAX_QUESTIONS, text),
        default=DEFAULT_QUESTIONS,
        help=number,
    )
    add("--seed", default="", help="seed to draw them with (default: a new one each time)")
    add(
        "--page",
        choices=("yes", "no"),
        default="yes",
        help="no: ask on the terminal (default: %(default)s)",
    )
    add("--out", type=Path, default=Path("viva.html"), help="page to write (default: %(default)s)")
    add("--open", action="store_true", help="open the page in a browser")
    add("--tier", type=tier, default=PROCESS, help=with_default(HELP["tier"], PROCESS))
    options = command_line.parse_args(arguments)
    if len(options.seed) > MAX_SEED_LENGTH or not options.seed.isprintable():
        raise SubmissionError(f"the seed must be at most {MAX_SEED_LENGTH} printable characters")
    options.seed = options.seed or str(secrets.randbelow(10**6))
    if options.page == "yes":
        check_writable(options.out, "out", PAGE)
    return options


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Ask about the submission that the command line names."""
    started: WorkerProcess | None = None
    print_any_letter()
    try:
        options = parse(folder, name, arguments)
        if options.tier == PROCESS:
            started = WorkerProcess(1)
        DOOR.start()
        sheet = sheet_of(open_assignment(folder), options, started)
        if not sheet.questions:
            print("\n".join(sheet.notes))
            return 1
        ask(sheet, options)
    finally:
        if started is not None:
            started.close()
    return 0
