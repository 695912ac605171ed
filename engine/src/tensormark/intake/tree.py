"""A hand-in as files and folders, whether they are on a disk or in an archive.

Nothing is read before it is asked for. What a name stands for is decided elsewhere; see search.py.
"""

import dataclasses
from collections.abc import Callable, Sequence

from tensormark.intake.syntax import shown

ITSELF = "it"  # the place of a hand-in that is one file


class UnreadableError(Exception):
    """Something cannot be used; the message completes a sentence about the hand-in."""


@dataclasses.dataclass(frozen=True)
class File:
    """A file, or what stands where one should.

    Attributes:
        name: as its student called it; place: where it is in the hand-in, for messages.
        content: takes the most bytes to read; raises UnreadableError if it cannot be read.
    """

    name: str
    place: str
    content: Callable[[int], bytes]

    def read(self, most: int, what: str = "") -> bytes:
        """Read it.

        Args:
            what: completes the sentence about a file that is larger.

        Raises:
            UnreadableError: it cannot be read, or is larger.
        """
        content = self.content(most + 1)
        if len(content) > most:
            size = f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
            raise UnreadableError(f"{shown(self.place)} is larger than {size}{what}")
        return content


@dataclasses.dataclass(frozen=True)
class Folder:
    """A folder; `entries` raises UnreadableError if it cannot be read."""

    name: str
    place: str
    entries: Callable[[], Sequence["File | Folder"]]


Entry = File | Folder


def no_file(name: str, place: str, why: str) -> File:
    """Return what is no file; it says why once it should be read."""

    def content(most: int) -> bytes:
        raise UnreadableError(f"{shown(place)} {why}")

    return File(name, place, content)
