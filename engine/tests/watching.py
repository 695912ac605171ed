"""Runs `tensormark watch` and reads what it prints."""

import queue
import subprocess
import threading
import time
from pathlib import Path

from asking import descendants, listen_to_interrupts
from graded import tensormark

LONG = 300.0  # seconds; longer than a busy machine may be unresponsive
WAITING = "waiting for a change"


class Watching:
    """A running watch of a submission, in an assignment's folder."""

    def __init__(self, folder: Path, path: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            tensormark("watch", str(path), *options),
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=listen_to_interrupts,
        )
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def __enter__(self) -> "Watching":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(LONG)
        self.thread.join(LONG)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def read(self) -> None:
        """Pass on lines as they come."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def until(self, word: str) -> str:
        """Return what is printed up to a line with this word."""
        text, deadline = "", time.monotonic() + LONG
        while (line := self.lines.get(timeout=max(0.0, deadline - time.monotonic()))) is not None:
            text += line
            if word in line:
                return text
        raise AssertionError(f"ended before {word!r}: {text}")

    def report(self) -> str:
        return self.until(WAITING)

    def rest(self) -> str:
        return "".join(iter(lambda: self.lines.get(timeout=LONG) or "", ""))

    def below(self) -> list[int]:
        return descendants(self.process.pid)


def memory_of(process: int) -> int:
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
    rows = [line.split() for line in rollup.splitlines()]
    return sum(int(row[1]) for row in rows if row[0] in ("Private_Dirty:", "Private_Clean:"))


def descriptors_of(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))
