"""A line on a terminal that says what is running, and disappears when it is done."""

import os
import shutil
import time
from typing import TextIO

from tensormark.reports.text import visible

CLEAR = "\r\x1b[K"
REDRAW_SECONDS = 0.1  # between two updates


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that understands escape sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


class LiveLine:
    """The line; nothing is written if the stream is not a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.enabled = is_terminal(stream)
        self._is_shown = False
        self._last_update = 0.0

    def say(self, text: str) -> None:
        """Replace the line."""
        if self.enabled:
            width = max(20, shutil.get_terminal_size().columns - 3)
            self.stream.write(f"{CLEAR}  {visible(text)[:width]}")
            self.stream.flush()
            self._is_shown = True

    def count(self, what: str, done: int, total: int) -> None:
        """Show the progress."""
        now = time.monotonic()
        if now - self._last_update >= REDRAW_SECONDS:
            self._last_update = now
            self.say(f"{what}: {100 * done // total} %")

    def clear(self) -> None:
        """Remove the line."""
        if self._is_shown:
            self.stream.write(CLEAR)
            self.stream.flush()
        self._is_shown = False
