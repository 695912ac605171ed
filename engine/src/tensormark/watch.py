"""Grade the functions each time a file is saved: `tensormark watch`.

Shows what `tensormark check` shows, but without waiting for torch, which a process imports before
the next save (sandbox/server.py). Each grading reads the files again and runs in a new process.
Saving a different text during a grading restarts it.

Exit status: 0 if it was ended by Ctrl-C or by closing the terminal; 2 if there is nothing to watch
or an option is invalid.
"""

import contextlib
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensormark.intake.process import READER
from tensormark.intake.saves import Saves
from tensormark.intake.submission import read_submission
from tensormark.reports.terminal import Report
from tensormark.reports.text import escape_unencodable_output, visible
from tensormark.result import Result
from tensormark.sandbox.interface import Program, printable
from tensormark.sandbox.server import SERVERS, kind_of
from tensormark.sandbox.tiers import PROCESS
from tensormark.settings import Settings, submission_parser
from tensormark.usage import UserError

if TYPE_CHECKING:
    from tensormark.sandbox.sandbox import Sandbox

WIDTH = 72  # of the line above a report


class SavedAgain(Exception):
    """The file that is being graded was saved with a different text."""


class WatchReport(Report):
    """Prints results as they come in, until the file is saved again."""

    def __init__(self, saves: Saves) -> None:
        super().__init__()
        self.saves = saves
        print(f"\n-- {time.strftime('%H:%M:%S')} ".ljust(WIDTH, "-"))

    def result(self, result: Result) -> None:
        """Print an exercise's line and findings.

        Raises:
            SavedAgain: the result is out of date.
        """
        if self.saves.saved.is_set():
            raise SavedAgain
        super().result(result)


class Watcher:
    """Grades one submission again and again.

    Attributes:
        sandbox: where it was graded last.
    """

    def __init__(self, folder: Path, path: str, only: str | None) -> None:
        """Open the assignment, and check that there is something to watch.

        Args:
            only: the ids of exercises, separated by commas, or None for all.

        Raises:
            SubmissionError: nothing to watch. InspectionError: submissions cannot be read here.
        """
        # here, so that the process that imports torch starts before numpy is imported
        from tensormark.folder import open_assignment
        from tensormark.grading import Grading, selected

        assignment = open_assignment(folder)
        self.path = path
        self.only = only
        self.sandbox: Sandbox | None = None
        self.grading = Grading(Settings.of(folder), assignment, self.open)
        selected(assignment, True, only)
        read_submission(path, assignment.editable)
        self.saves = Saves(Path(path), assignment.editable, self.stop)

    def stop(self) -> None:
        """End the running call, however long it would take; called from another thread."""
        if self.sandbox is not None:
            self.sandbox.stop()

    def open(self, tier: str, program: Program) -> "Sandbox":
        """Open a sandbox."""
        from tensormark.sandbox.sandbox import Sandbox  # it imports numpy

        self.sandbox = Sandbox(tier, program)
        if self.saves.saved.is_set():  # too early for `stop`
            self.stop()
        return self.sandbox

    def grade(self) -> None:
        """Grade the files as they are now, until they are saved again."""
        self.saves.begin()
        report = WatchReport(self.saves)
        said = f"\n  waiting for changes to {visible(self.path)}; Ctrl-C stops"
        try:
            submission = self.grading.read(self.path)
            self.grading.grade(submission, check=True, only=self.only, observer=report)
        except UserError as error:  # the file is gone for a moment, or too large
            print(printable(str(error)))
        except SavedAgain:
            said = "  saved again"
        report.live.clear()
        self.saves.end()
        print(said, flush=True)


def watch(folder: Path, path: str, only: str | None) -> None:
    """Grade, and grade again after each save, until an exception ends it."""
    READER.start()
    SERVERS.start(kind_of(PROCESS))
    watched = Watcher(folder, path, only)
    with contextlib.closing(watched.saves) as saves:
        while True:
            watched.grade()
            saves.saved.wait()


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Watch the submission that the command line names."""
    escape_unencodable_output()
    parser = submission_parser(folder, name, "Grade each time you save.")
    parser.add_argument("--only", metavar="EXERCISES", help="grade only these, separated by commas")
    options = parser.parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    try:
        watch(folder, options.submission, options.only)
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):  # the terminal is gone
            print("\nwatch: ended", flush=True)
    return 0
