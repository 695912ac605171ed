"""Grade the functions each time a file is saved: `tensormark watch`.

Shows what `tensormark check` shows, but without the wait for torch: a process has imported it while
waiting for the next save (sandbox/waiting.py). Each grading reads the files anew and runs in a
worker of its own. Saving a different text during a grading starts it over.

Exit status: 0 if it was ended by Ctrl-C or by closing the terminal; 2 if there is nothing to watch
or an option is invalid.
"""

import argparse
import contextlib
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensormark.intake.door import DOOR, InspectionError
from tensormark.intake.saves import Saves
from tensormark.intake.submission import SubmissionError, read_submission
from tensormark.reports.terminal import RESET, Report
from tensormark.reports.text import print_any_letter, visible
from tensormark.result import Result
from tensormark.sandbox.interface import Program, Sandbox, printable
from tensormark.sandbox.waiting import WarmWorkers, warm_workers
from tensormark.settings import Settings, submission_parser

if TYPE_CHECKING:
    from tensormark.sandbox.process import ProcessSandbox

WIDTH = 72  # of the line above a report
DIM = "\x1b[2m"
END_SIGNALS = ("SIGTERM", "SIGHUP")  # these end it as Ctrl-C does, on systems that have them


class SavedAgain(Exception):
    """The file that is being graded was saved with a different text."""


class WatchReport(Report):
    """Prints results as they come in, until the file is saved again."""

    def __init__(self, saves: Saves) -> None:
        super().__init__()
        self.saves = saves
        heading = f"-- {time.strftime('%H:%M:%S')} ".ljust(WIDTH, "-")
        print(f"\n{DIM}{heading}{RESET}" if self.colours else f"\n{heading}")

    def result(self, result: Result) -> None:
        """Print an exercise's line and findings.

        Raises:
            SavedAgain: the result is out of date.
        """
        if self.saves.saved.is_set():
            raise SavedAgain
        super().result(result)


class Watch:
    """Grades one submission again and again."""

    def __init__(self, folder: Path, path: str, only: str | None, workers: WarmWorkers) -> None:
        """Open the assignment, and check that there is something to watch.

        Args:
            folder: the assignment's.
            only: the ids of exercises, separated by commas, or None for all.

        Raises:
            SubmissionError: there is nothing to watch. InspectionError: nothing can be read here.
        """
        # here, so that the process that imports torch is started before numpy is imported
        from tensormark.folder import open_assignment
        from tensormark.grading import Grading
        from tensormark.selection import selected

        self.path, self.only, self.workers = path, only, workers
        assignment = open_assignment(folder)
        self.grading = Grading(Settings.of(folder), assignment, self.open)
        selected(assignment, True, only)
        read_submission(path, assignment.editable)
        self.sandbox: ProcessSandbox | None = None
        self.saves = Saves(Path(path), assignment.editable, self.stop)

    def open(self, _: str, program: Program) -> Sandbox:
        """Open a sandbox whose workers have torch imported."""
        from tensormark.sandbox.process import ProcessSandbox  # as above

        self.sandbox = ProcessSandbox(program, start=self.workers.take)
        if self.saves.saved.is_set():  # too early for `stop`
            self.stop()
        return self.sandbox

    def stop(self) -> None:
        """End the call that is running, however long it would take."""
        if self.sandbox is not None:
            self.sandbox.stop()

    def grade(self) -> None:
        """Grade the file as it is now, until it is saved again.

        Raises:
            SavedAgain: it was.
        """
        self.saves.begin()
        report = WatchReport(self.saves)
        try:
            self.grading.grade(self.path, check=True, only=self.only, observer=report)
        except SubmissionError as error:  # the file is gone for a moment, or too large
            print(printable(str(error)))
        finally:
            report.live.clear()
            self.saves.end()
            self.workers.prepare()

    def run(self) -> None:
        """Grade on each save."""
        while True:
            try:
                self.grade()
                print(f"\n  waiting for a change of {visible(self.path)}, Ctrl-C ends", flush=True)
                self.saves.saved.wait()
            except SavedAgain:
                print("  saved again")


def end_on_signals() -> None:
    """Treat the signals that ask a program to end like Ctrl-C."""
    for name in END_SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)


def parse(folder: Path, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = submission_parser(folder, name, "Grade each time you save.")
    parser.add_argument("--only", metavar="EXERCISES", help="grade only these, separated by commas")
    return parser.parse_args(arguments)


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Watch the submission that the command line names."""
    print_any_letter()
    try:
        options = parse(folder, name, arguments)
        end_on_signals()
        DOOR.start()
        with contextlib.closing(warm_workers(Settings.of(folder).threads)) as workers:
            watch = Watch(folder, options.submission, options.only, workers)
            with contextlib.closing(watch.saves):
                watch.run()
    except (SubmissionError, InspectionError, OSError) as error:
        print(f"watch: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):  # the terminal is gone
            print("\nwatch: ended", flush=True)
    return 0
