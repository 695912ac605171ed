"""A hand-in as files and folders, on disk or in an archive.

Nothing is read before it is needed. What a name stands for is decided elsewhere; see search.py.
"""

import dataclasses
from collections.abc import Callable, Sequence

from tensormark.intake.syntax import shown

ITSELF = "it"  # the place of a hand-in that is a single file


class UnreadableError(Exception):
    """Something cannot be used; the message completes a sentence about the hand-in."""


@dataclasses.dataclass(frozen=True)
class File:
    """A file, or something unreadable in the place of one.

    Attributes:
        name: as the student called it.
        place: its path in the hand-in, for messages.
        content: given the maximum number of bytes, reads it or raises UnreadableError.
    """

    name: str
    place: str
    content: Callable[[int], bytes]

    def read(self, max_bytes: int, what: str = "") -> bytes:
        """Read it.

        Args:
            what: completes the message about a file that is too large.

        Raises:
            UnreadableError: it cannot be read, or is too large.
        """
        content = self.content(max_bytes + 1)
        if len(content) > max_bytes:
            size = f"{max_bytes >> 20} MiB" if max_bytes >> 20 else f"{max_bytes >> 10} KiB"
            raise UnreadableError(f"{shown(self.place)} is larger than {size}{what}")
        return content


@dataclasses.dataclass(frozen=True)
class Folder:
    """A folder; `entries` raises UnreadableError if it cannot be read."""

    name: str
    place: str
    entries: Callable[[], Sequence["File | Folder"]]


Entry = File | Folder


def unreadable(name: str, place: str, why: str) -> File:
    """Return a file that says why it cannot be used when it is read."""

    def content(max_bytes: int) -> bytes:
        raise UnreadableError(f"{shown(place)} {why}")

    return File(name, place, content)
