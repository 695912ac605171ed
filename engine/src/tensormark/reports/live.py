"""A line on a terminal that says what is running, and disappears when it is done."""

import os
import shutil
import time
from typing import TextIO

from tensormark.reports.text import visible

CLEAR = "\r\x1b[K"
EVERY = 0.1  # seconds between two drawings
SETTLED = 5  # steps after which the remaining time can be estimated


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that understands escape sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class LiveLine:
    """The line; nothing is written if the stream is not a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.on = stream, is_terminal(stream)
        self.drawn = False
        self.since: float | None = None  # when the first step of a count was done
        self.first = 0
        self.last = 0.0

    def say(self, text: str) -> None:
        """Replace the line."""
        if self.on:
            width = max(20, shutil.get_terminal_size().columns - 3)
            self.stream.write(f"{CLEAR}  {visible(text)[:width]}")
            self.stream.flush()
            self.drawn = True

    def count(self, what: str, done: int, total: int) -> None:
        """Show the progress and the remaining time."""
        now = time.monotonic()
        if self.since is None or done < self.first:
            self.since, self.first = now, done
        elif now - self.last < EVERY:
            return
        self.last = now
        steps = done - self.first
        left = f"{100 * done // total} %"
        if steps >= SETTLED:
            left = f"{(total - done) * (now - self.since) / steps:.0f} s left"
        self.say(f"{what}: {left}")

    def clear(self) -> None:
        """Remove the line."""
        if self.drawn:
            self.stream.write(CLEAR)
            self.stream.flush()
        self.drawn, self.since = False, None
