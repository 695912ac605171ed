"""Notice when the files of a submission are saved, however the editor does it.

Some editors write a new file and rename it, some empty the file first, most leave files of their
own beside it. So events only trigger a look: what counts is whether a file that would be graded
was replaced or rewritten.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tensormark.intake.door import InspectionError
from tensormark.intake.submission import SubmissionError, read_submission

QUIET = 5  # milliseconds without an event after which a save counts as complete
MAX_WAIT = 200  # milliseconds to wait for that
INTERVAL = 1.0  # seconds between looks without an event: network drives send none
Stamps = Mapping[str, Sequence[int]]
Texts = Mapping[str, str]


def _state(path: Path, editable: Sequence[str]) -> tuple[Stamps, Texts]:
    """Return the stamps of the files that would be graded, which change on a write, and texts."""
    try:
        submission = read_submission(path, editable)
    except SubmissionError as error:  # a file is gone for a moment
        return {}, {"": str(error)}
    return submission.stamps, submission.faults | submission.sources


class Saves:
    """Looks for saves in a separate thread.

    Attributes:
        saved: set once something has been saved since `begin`.
    """

    def __init__(self, path: Path, editable: Sequence[str], during: Callable[[], None]) -> None:
        """Start the thread.

        Args:
            path: the submission.
            during: called when different text is saved during a grading.
        """
        self.path, self.editable, self.during = path, editable, during
        self.saved, self.closed = threading.Event(), threading.Event()
        self.lock, self.grading = threading.Lock(), False
        self.read()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def read(self) -> None:
        """Record the current state of the files."""
        self.stamps, self.texts = _state(self.path, self.editable)

    def begin(self) -> None:
        """Record that the files are being graded as they are now.

        That is what was read last, or newer; if newer, the next look notices and they are graded
        again.
        """
        with self.lock:
            self.saved.clear()
            self.grading = True

    def end(self) -> None:
        """Record that the grading has ended."""
        with self.lock:
            self.grading = False

    def look(self) -> None:
        """Check whether something was saved; during a grading, only different text counts."""
        with self.lock:
            before = self.stamps, self.texts
            self.read()
            if (self.stamps, self.texts) == before or (self.grading and self.texts == before[1]):
                return
            self.saved.set()
            during = self.grading
        if during:
            self.during()

    def folders(self) -> set[Path]:
        """Return the folders that the files are in; the target of a link may be in another one."""
        if self.path.is_dir():
            return {self.path, *((self.path / path).parent for path in self.stamps)}
        return {self.path.parent, Path(os.path.realpath(self.path)).parent}

    def times(self) -> Iterator[object]:
        """Yield when it is time to look."""
        from watchfiles import watch  # here, in the thread: importing it takes a while

        with contextlib.suppress(OSError, RuntimeError):  # the system has run out of watches
            yield from watch(
                *self.folders(),
                watch_filter=None,
                debounce=MAX_WAIT,
                step=QUIET,
                stop_event=self.closed,
                rust_timeout=int(INTERVAL * 1000),
                yield_on_timeout=True,
                raise_interrupt=False,
                recursive=False,
            )
        while not self.closed.wait(INTERVAL):
            yield None

    def run(self) -> None:
        """Look at each event, and at intervals."""
        for _ in self.times():
            with contextlib.suppress(InspectionError):  # which the next grading reports
                self.look()

    def close(self) -> None:
        """End the thread."""
        self.closed.set()
        self.thread.join()
