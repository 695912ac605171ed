"""The time from a save to the last verdict in `make watch`, for correct code and for a mistake.

With a mistake, the functions after it are called a second time, with stand-ins.
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

LAST = " encode "  # the last of the five functions
WAITING = "waiting for a change"
MISTAKE = "return ln_layer(", "return 1.01 * ln_layer("
LINES = (
    Line("make watch, a save of correct code", "s", most_ratio=0.25),
    Line("make watch, a save with a mistake", "s", most_ratio=0.22),
)


class Watched:
    """A file that a checkout's `watch` is watching."""

    def __init__(self, path: Path, process: subprocess.Popen[str]) -> None:
        self.path, self.process, self.saves = path, process, 0

    def read_until(self, word: str) -> None:
        """Read up to a line with this word.

        Raises:
            RuntimeError: there is no such line.
        """
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if word in line:
                return
        raise RuntimeError(f"watch exited with status {self.process.wait()}")

    def save(self, text: str) -> float:
        """Save a text that differs from the last; return the seconds to the last verdict."""
        self.saves += 1
        started = time.perf_counter()
        self.path.write_text(f"{text}\n# save {self.saves}\n", encoding="utf-8")
        self.read_until(LAST)
        seconds = time.perf_counter() - started
        self.read_until(WAITING)
        return seconds


@contextlib.contextmanager
def watched(checkout: Checkout, text: str) -> Iterator[Watched]:
    """Start `watch` on a new file, and yield once it waits for changes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bert.py"
        path.write_text(text, encoding="utf-8")
        command = checkout.command("watch", path)
        with subprocess.Popen(
            command, cwd=checkout.root, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                watch = Watched(path, process)
                watch.read_until(WAITING)
                yield watch
            finally:
                process.terminate()


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure saves of correct code, and of code with a mistake."""
    right = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    wrong = right.replace(*MISTAKE)
    with contextlib.ExitStack() as stack:
        files = {
            checkout: stack.enter_context(watched(checkout, right))
            for checkout in checkouts
            if checkout is not None
        }

        def saves(checkout: Checkout) -> Sequence[float]:
            return [files[checkout].save(text) for text in (right, wrong)]

        yield from compare(LINES, saves, checkouts, TORCH, rounds=6)
