"""Grade the functions each time a file is saved: `tensormark watch`.

Shows what `tensormark check` shows, but without waiting for torch, which a process imports before
the next save (sandbox/server.py). Each grading reads the files again and runs in a new process.
Saving a different text during a grading restarts it, even if a call hangs.

Some editors write a new file and rename it, some empty the file first, most leave files of their
own beside it. So the files are read again and again: what counts is whether a file that would be
graded was replaced or rewritten.

Exit status: 0 if it was ended by Ctrl-C or by closing the terminal; 2 if there is nothing to watch
or an option is invalid.
"""

import contextlib
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.intake.process import READER
from tensormark.intake.submission import read_submission
from tensormark.reports.terminal import Report
from tensormark.reports.text import escape_unencodable_output, visible
from tensormark.sandbox.interface import printable
from tensormark.sandbox.server import SERVERS
from tensormark.sandbox.tiers import PROCESS
from tensormark.settings import Settings, submission_parser
from tensormark.usage import UserError

WIDTH = 72  # of the line above a report
INTERVAL = 0.3  # seconds between two looks at the files


class SavedAgain(BaseException):
    """A file that is being graded was saved with a different text.

    It is no Exception, so that nothing takes it for a fault of what is graded.
    """


class WatchReport(Report):
    """Prints results as they come in, until a file is saved with a different text."""

    def __init__(self, path: str, editable: Sequence[str]) -> None:
        """Note the files as they are now; if newer ones are graded, the next look notices."""
        super().__init__()
        self.path = path
        self.editable = editable
        self.texts, self.stamps = self.read()
        self.looked = time.monotonic()
        print(f"\n-- {time.strftime('%H:%M:%S')} ".ljust(WIDTH, "-"))

    def read(self) -> tuple[dict[str, str], Mapping[str, Any]]:
        """Return the texts that would be graded, and the files' stamps, which change on a write."""
        try:
            submission = read_submission(self.path, self.editable)
        except UserError as error:  # the file is gone for a moment; a grading says so
            return {"": str(error)}, {}
        return submission.faults | submission.sources, submission.stamps

    def wait(self) -> None:
        """Wait for a save, perhaps of the same text."""
        while self.read() == (self.texts, self.stamps):
            time.sleep(INTERVAL)

    def progress(self, what: str, done: int, total: int) -> None:
        """Look for a save now and then.

        Raises:
            SavedAgain: the grading is out of date.
        """
        if time.monotonic() - self.looked > INTERVAL:
            texts, _ = self.read()
            if texts != self.texts:
                raise SavedAgain
            self.looked = time.monotonic()
        super().progress(what, done, total)


def watch(folder: Path, path: str, only: str | None) -> None:
    """Grade, and grade again after each save, until an exception ends it.

    Args:
        only: the ids of exercises, separated by commas, or None for all.

    Raises:
        SubmissionError: nothing to watch. InspectionError: submissions cannot be read here.
    """
    READER.start()
    SERVERS.start(PROCESS)
    # here, so that the process that imports torch starts before numpy is imported
    from tensormark.folder import open_assignment
    from tensormark.grading import Grading, selected

    assignment = open_assignment(folder)
    grading = Grading(Settings.of(folder), assignment)
    # an error in what the command line names ends the command; later ones are only printed
    selected(assignment, True, only)
    grading.read(path)
    while True:
        report = WatchReport(path, assignment.editable)
        try:
            grading.grade(grading.read(path), check=True, only=only, observer=report)
        except UserError as error:  # the file is gone for a moment, or too large
            print(printable(str(error)))
        except SavedAgain:
            report.live.clear()
            print("  saved again", flush=True)
            continue  # even if the file is as it was, as when it was only moved away and back
        report.live.clear()
        print(f"\n  waiting for changes to {visible(path)}; Ctrl-C stops", flush=True)
        report.wait()


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Watch the submission that the command line names."""
    escape_unencodable_output()
    parser = submission_parser(folder, name, "Grade each time you save.")
    parser.add_argument("--only", metavar="EXERCISES", help="grade only these, separated by commas")
    options = parser.parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as with nohup
            signal.signal(number, signal.default_int_handler)  # ends it like Ctrl-C
    try:
        watch(folder, options.submission, options.only)
    except KeyboardInterrupt:
        with contextlib.suppress(OSError):  # the terminal is gone
            print("\nwatch: ended", flush=True)
    return 0
