"""A line on a terminal that says what is running, and disappears when it is done."""

import os
import shutil
import time
from typing import TextIO

from tensormark.reports.text import visible

CLEAR = "\r\x1b[K"
REDRAW_SECONDS = 0.1  # between two updates
MIN_STEPS = 5  # steps after which the remaining time can be estimated


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that understands escape sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class LiveLine:
    """The line; nothing is written if the stream is not a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.enabled = is_terminal(stream)
        self._is_shown = False
        self._start: float | None = None  # the time of a count's first update
        self._first_step = 0
        self._last_update = 0.0

    def say(self, text: str) -> None:
        """Replace the line."""
        if self.enabled:
            width = max(20, shutil.get_terminal_size().columns - 3)
            self.stream.write(f"{CLEAR}  {visible(text)[:width]}")
            self.stream.flush()
            self._is_shown = True

    def count(self, what: str, done: int, total: int) -> None:
        """Show the progress and the remaining time."""
        now = time.monotonic()
        if self._start is None or done < self._first_step:
            self._start = now
            self._first_step = done
        elif now - self._last_update < REDRAW_SECONDS:
            return
        self._last_update = now
        steps = done - self._first_step
        progress = f"{100 * done // total} %"
        if steps >= MIN_STEPS:
            progress = f"{(total - done) * (now - self._start) / steps:.0f} s left"
        self.say(f"{what}: {progress}")

    def clear(self) -> None:
        """Remove the line."""
        if self._is_shown:
            self.stream.write(CLEAR)
            self.stream.flush()
        self._is_shown = False
        self._start = None
