"""Running long commands, and the signals that interrupt them."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Turns signals that ask the process to end into a KeyboardInterrupt, which can be postponed.

    Signals that the process was started to ignore, as by nohup, are still ignored.
    """

    def __init__(self) -> None:
        self._held = self._pending = False

    def handle(self) -> None:
        """Start handling the signals."""
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._interrupt)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._pending = True
        self._raise()

    def _raise(self) -> None:
        if self._pending and not self._held:
            self._pending = False
            raise KeyboardInterrupt

    def hold(self) -> None:
        """Postpone them for good: the rest is short and must not be left half done."""
        self._held = True

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Postpone them until the block ends."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self._raise()


def run_logged(command: Sequence[str], folder: Path, log: Path, interrupts: Interrupts) -> int:
    """Run a command in a folder, with its stderr in a log; return its exit status.

    The command gets its own process group, which Ctrl-C does not reach: if this process is
    interrupted, it kills the whole group.
    """
    run = None
    with log.open("wb") as errors:
        try:
            with interrupts.held():
                run = subprocess.Popen(command, cwd=folder, stderr=errors, start_new_session=True)
            return run.wait()
        except BaseException:
            if run is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(run.pid, signal.SIGKILL)
                run.wait()
            raise


def last_line(log: Path) -> str:
    """Return the last message in a log; make's own lines only report exit statuses."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    messages = [line.strip() for line in lines if line.strip() and not line.startswith("make")]
    return messages[-1] if messages else "no message"
