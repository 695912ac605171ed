"""Long commands that are run one after another, and what interrupts them."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Turns every signal that asks a process to end into a KeyboardInterrupt, at a time that suits.

    Signals that whoever started the process had it ignore, as nohup does, are still ignored.
    """

    def __init__(self) -> None:
        self._held = self._pending = False

    def handle(self) -> None:
        """Handle the signals from now on."""
        for number in ENDING:
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
        """Put them off for good: what is left to do is short, and must not be half done."""
        self._held = True

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Put them off until the block ends."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self._raise()


def run_logged(command: Sequence[str], folder: Path, log: Path, interrupts: Interrupts) -> int:
    """Run a command in a folder, with its errors in a log; return its exit status.

    It is a group of processes of its own, which Ctrl-C does not reach: if this process is
    interrupted, it ends them all.
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
    """Return the last line of a log that says something; make's own only count exit statuses."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    messages = [line.strip() for line in lines if line.strip() and not line.startswith("make")]
    return messages[-1] if messages else "it gave no message"
