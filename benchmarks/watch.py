"""Measures the time from a save to the last verdict in `make watch`, with and without a mistake.

After a mistake, the functions that depend on it are called a second time, with stand-ins.
"""

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.checkout import Checkout, Checkouts
from benchmarks.measure import TORCH, Line, Row, compare
from instructor import ROOT

LAST_FUNCTION = " encode "  # the last of the five functions
WAITING_LINE = "waiting for a change"
MISTAKE = "return ln_layer(", "return 1.01 * ln_layer("
LINES = (
    Line("make watch, a save of correct code", "s", most_ratio=0.25),
    Line("make watch, a save with a mistake", "s", most_ratio=0.22),
)


class WatchedFile:
    """A file that a checkout's `make watch` is watching."""

    def __init__(self, path: Path, process: subprocess.Popen[str]) -> None:
        self.path, self.process, self.saves = path, process, 0

    def read_until(self, text: str) -> None:
        """Read up to a line that contains this text.

        Raises:
            RuntimeError: there is no such line.
        """
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if text in line:
                return
        raise RuntimeError(f"watch exited with status {self.process.wait()}")

    def save(self, text: str) -> float:
        """Save a text that differs from the last; return the seconds to the last verdict."""
        self.saves += 1
        started = time.perf_counter()
        self.path.write_text(f"{text}\n# save {self.saves}\n", encoding="utf-8")
        self.read_until(LAST_FUNCTION)
        seconds = time.perf_counter() - started
        self.read_until(WAITING_LINE)
        return seconds


@contextlib.contextmanager
def watched_file(checkout: Checkout, text: str) -> Iterator[WatchedFile]:
    """Start `watch` on a new file, and yield once it waits for changes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bert.py"
        path.write_text(text, encoding="utf-8")
        command = checkout.command("watch", path)
        with subprocess.Popen(
            command, cwd=checkout.root, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                file = WatchedFile(path, process)
                file.read_until(WAITING_LINE)
                yield file
            finally:
                process.terminate()


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure saves of correct code, and of code with a mistake."""
    correct = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    mistaken = correct.replace(*MISTAKE)
    with contextlib.ExitStack() as stack:
        files = {
            checkout: stack.enter_context(watched_file(checkout, correct))
            for checkout in checkouts
            if checkout is not None
        }

        def saves(checkout: Checkout) -> Sequence[float]:
            return [files[checkout].save(text) for text in (correct, mistaken)]

        yield from compare(LINES, saves, checkouts, TORCH, rounds=6)
