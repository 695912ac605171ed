"""Notice when the files of a submission are saved, however the editor does it.

Some editors write a new file and rename it, some empty the file first, most leave files of their
own beside it. So a file or folder that changes only triggers a look, once it has not changed for a
moment: what counts is whether a file that would be graded was replaced or rewritten.
"""

import contextlib
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tensormark.intake.process import InspectionError
from tensormark.intake.submission import SubmissionError, read_submission

POLL = 0.03  # seconds
POLLS = 33  # until a look, even if no time has changed: some drives only keep whole seconds


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:  # it is gone for a moment
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


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
        self.path = path
        self.editable = editable
        self.during = during
        self.saved = threading.Event()
        self.closed = threading.Event()
        self.lock = threading.Lock()
        self.grading = False
        self.read()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def read(self) -> None:
        """Record the texts that would be graded, and the files' stamps, which change on a write."""
        try:
            submission = read_submission(self.path, self.editable)
        except SubmissionError as error:  # a file is gone for a moment
            self.stamps: Mapping[str, Sequence[int]] = {}
            self.texts = {"": str(error)}
        else:
            self.stamps = submission.stamps
            self.texts = submission.faults | submission.sources

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
            stamps = self.stamps
            texts = self.texts
            self.read()
            other_text = self.texts != texts
            if other_text or (self.stamps != stamps and not self.grading):
                self.saved.set()
            during = self.grading and other_text
        if during:
            self.during()

    def state(self) -> list[object]:
        """Return what changes on a save: the stamps of the files, and of their folders."""
        top = self.path if self.path.is_dir() else self.path.parent
        files = [self.path, *(top / place for place in self.stamps)]
        return [_stamp(path) for path in [*files, *(file.parent for file in files)]]

    def run(self) -> None:
        """Look when something has changed, and at intervals."""
        looked: list[object] | None = None
        before = self.state()
        for count in itertools.count(1):
            if self.closed.wait(POLL):
                return
            now = self.state()
            if (now == before and now != looked) or count % POLLS == 0:
                with contextlib.suppress(InspectionError):  # which the next grading reports
                    self.look()
                looked = now
            before = now

    def close(self) -> None:
        """End the thread."""
        self.closed.set()
        self.thread.join()
