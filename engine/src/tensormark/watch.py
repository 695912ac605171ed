"""Grade the functions each time a file is saved: `tensormark watch`.

Shows what `tensormark check` shows, but without waiting for torch, which a process imports before
the next save (sandbox/fork_server.py). Each grading reads the files again and runs in a new worker.
Saving a different text during a grading restarts it.

Exit status: 0 if it was ended by Ctrl-C or by closing the terminal; 2 if there is nothing to watch
or an option is invalid.
"""

import contextlib
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensormark.intake.process import READER
from tensormark.intake.saves import Saves
from tensormark.intake.submission import SubmissionError, read_submission
from tensormark.reports.terminal import RESET, Report
from tensormark.reports.text import print_any_letter, visible
from tensormark.result import Result
from tensormark.sandbox.fork_server import WorkerServer
from tensormark.sandbox.interface import Program, Sandbox, printable
from tensormark.settings import Settings, submission_parser

if TYPE_CHECKING:
    from tensormark.grading import Grading
    from tensormark.sandbox.process import ProcessSandbox

WIDTH = 72  # of the line above a report
DIM = "\x1b[2m"
END_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # those that the system has
DONE = b"\0"  # no signal has this number


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
    """Grades one submission again and again, in a separate thread.

    Attributes:
        error: the exception that ended it, such as one that there is nothing to watch, or None.
    """

    def __init__(self, folder: Path, path: str, only: str | None) -> None:
        """Prepare to watch a path.

        Args:
            folder: the assignment's folder.
            only: the ids of exercises, separated by commas, or None for all.
        """
        self.folder = folder
        self.path = path
        self.only = only
        self.sandbox: ProcessSandbox | None = None
        self.saves: Saves | None = None
        self.ended = False
        self.error: Exception | None = None

    def stop(self) -> None:
        """End the running call, however long it would take."""
        if self.sandbox is not None:
            self.sandbox.stop()

    def end(self) -> None:
        """End the watching soon, from another thread."""
        self.ended = True
        if self.saves is not None:
            self.saves.saved.set()
        self.stop()

    def grade(self, grading: "Grading", saves: Saves, workers: WorkerServer) -> None:
        """Grade the file as it is now, until it is saved again.

        Raises:
            SavedAgain: it was saved again, or the watching ends.
        """
        saves.begin()
        if self.ended:
            raise SavedAgain
        report = WatchReport(saves)
        try:
            grading.grade(self.path, check=True, only=self.only, observer=report)
        except SubmissionError as error:  # the file is gone for a moment, or too large
            print(printable(str(error)))
        finally:
            report.live.clear()
            saves.end()
            workers.prepare(grading.assignment.harness, grading.assignment.rules)

    def watch(self, workers: WorkerServer) -> None:
        """Open the assignment, check that there is something to watch, and watch it.

        Args:
            workers: have imported torch.

        Raises:
            SubmissionError: nothing to watch. InspectionError: submissions cannot be read here.
        """
        # here, so that the process that imports torch starts before numpy is imported
        from tensormark.folder import open_assignment
        from tensormark.grading import Grading, selected
        from tensormark.sandbox.process import ProcessSandbox

        def opened(_: str, program: Program) -> Sandbox:
            self.sandbox = ProcessSandbox(program, start=workers.take)
            if saves.saved.is_set():  # too early for `stop`
                self.stop()
            return self.sandbox

        assignment = open_assignment(self.folder)
        grading = Grading(Settings.of(self.folder), assignment, opened)
        selected(assignment, True, self.only)
        read_submission(self.path, assignment.editable)
        with contextlib.closing(Saves(Path(self.path), assignment.editable, self.stop)) as saves:
            self.saves = saves
            while not self.ended:
                try:
                    self.grade(grading, saves, workers)
                    path = visible(self.path)
                    print(f"\n  waiting for changes to {path}; Ctrl-C stops", flush=True)
                    saves.saved.wait()
                except SavedAgain:
                    if not self.ended:
                        print("  saved again")

    def run(self, done: Callable[[], object]) -> None:
        """Watch, and finally call `done`."""
        try:
            READER.start()
            with contextlib.closing(WorkerServer(Settings.of(self.folder).threads)) as workers:
                self.watch(workers)
        except Exception as error:
            self.error = error
        finally:
            done()


def end_signals() -> tuple[socket.socket, socket.socket]:
    """Return a socket that gets a byte when a signal asks this program to end, and the other end.

    The signals do nothing else: an exception could come between any two steps, such as starting a
    process and storing it so that it can be stopped.
    """
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    for name in END_SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    return receiver, sender


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Watch the submission that the command line names."""
    print_any_letter()
    parser = submission_parser(folder, name, "Grade each time you save.")
    parser.add_argument("--only", metavar="EXERCISES", help="grade only these, separated by commas")
    options = parser.parse_args(arguments)
    receiver, sender = end_signals()
    watch = Watch(folder, options.submission, options.only)
    thread = threading.Thread(target=watch.run, args=(lambda: sender.send(DONE),), daemon=True)
    thread.start()
    if receiver.recv(1) != DONE:
        watch.end()
        receiver.recv(1)  # until it is done, or a second signal arrives
        with contextlib.suppress(OSError):  # the terminal is gone
            print("\nwatch: ended", flush=True)
    elif watch.error is not None:
        raise watch.error
    return 0
