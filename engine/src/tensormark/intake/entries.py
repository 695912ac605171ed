"""A submission as files and folders, on a disk or in an archive, each read only when needed.

Covered: below the path that the user named, no link is followed and only folders and regular files
are opened, each relative to an open folder, so swapping a path in the meantime has no effect.
"""

import contextlib
import dataclasses
import errno
import functools
import itertools
import os
import stat
from collections.abc import Callable, Iterator, Sequence

from tensormark.characters import shown
from tensormark.files import SAFE_FLAGS, NotAFileError, kind_of, read_regular

MAX_ENTRIES = 10_000  # that are examined in a submission or a folder
NO_LINKS = "is a link, which is not followed; hand in the file itself"
FOLDER = SAFE_FLAGS | os.O_DIRECTORY
Stamp = tuple[int, int, int]


class UnreadableError(Exception):
    """Something cannot be used; the message completes a sentence about it."""


def _reason(error: Exception) -> str:
    """Return why something cannot be read, to complete a sentence about it."""
    if isinstance(error, NotAFileError | UnreadableError):
        return str(error)
    code = getattr(error, "errno", None)
    if code in (errno.ELOOP, errno.ENOTDIR):  # a parent is a link or not a folder
        return NO_LINKS
    why = os.strerror(code) if code else shown(str(error)) or type(error).__name__
    return f"cannot be read ({why})"


@contextlib.contextmanager
def read_as(place: str) -> Iterator[None]:
    """Turn whatever is raised on the way into an UnreadableError about what is at a place."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # libraries raise anything on damage, struct.error included
        raise UnreadableError(f"{shown(place)} {_reason(error)}".strip()) from error


@dataclasses.dataclass(frozen=True)
class File:
    """A file, or something unreadable in the place of one.

    Attributes:
        name: as the student called it.
        place: its path in the submission, for messages.
        content: returns what is in it, up to a number of bytes, or raises any exception.
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
        with read_as(self.place):
            content = self.content(max_bytes + 1)
            if len(content) > max_bytes:
                size = f"{max_bytes >> 20} MiB" if max_bytes >> 20 else f"{max_bytes >> 10} KiB"
                raise UnreadableError(f"is larger than {size}{what}")
        return content


@dataclasses.dataclass(frozen=True)
class Folder:
    """A folder; `content` lists it, or raises any exception."""

    name: str
    place: str
    content: Callable[[], Sequence["File | Folder"]]

    def read(self) -> Sequence["File | Folder"]:
        """Return the files and folders in it.

        Raises:
            UnreadableError: it cannot be read.
        """
        with read_as(self.place):
            return self.content()


Entry = File | Folder


def unreadable(name: str, place: str, why: str) -> File:
    """Return a file that says why it cannot be used when it is read."""

    def content(max_bytes: int) -> bytes:
        raise UnreadableError(why)

    return File(name, place, content)


@dataclasses.dataclass
class Disk:
    """What is at a path on a disk, and below it.

    Attributes:
        root: a path that the user typed, so it may itself be a link.
        stamps: modification time, size and inode number of each file that was read, by its place.
    """

    root: str
    stamps: dict[str, Stamp]

    @contextlib.contextmanager
    def _opened(self, parts: Sequence[str]) -> Iterator[int]:
        """Open a folder below the root, or the root itself."""
        handle = os.open(self.root, FOLDER)
        try:
            for part in parts:
                above = handle
                handle = os.open(part, FOLDER | os.O_NOFOLLOW, dir_fd=above)
                os.close(above)
            yield handle
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def _reached(self, parts: Sequence[str]) -> Iterator[tuple[str, int | None]]:
        """Yield a path, and the open folder that it is relative to, if it is relative."""
        if not parts:
            yield self.root, None
            return
        with self._opened(parts[:-1]) as folder:
            yield parts[-1], folder

    def _read(self, parts: Sequence[str], place: str, max_bytes: int) -> bytes:
        with self._reached(parts) as (path, folder):
            content, status = read_regular(path, max_bytes, folder, follow=not parts)
        self.stamps[place] = (status.st_mtime_ns, status.st_size, status.st_ino)
        return content

    def listed(self, parts: Sequence[str], place: str) -> list[Entry]:
        """Return what is in a folder, sorted by name.

        Raises:
            OSError: it cannot be read.
        """
        with self._opened(parts) as folder, os.scandir(folder) as scan:
            items = itertools.islice(scan, MAX_ENTRIES + 1)
            stats = {item.name: item.stat(follow_symlinks=False) for item in items}
        return [
            self._entry((*parts, name), name, f"{place}/{name}" if place else name, status)
            for name, status in sorted(stats.items())
        ]

    def _entry(self, parts: Sequence[str], name: str, place: str, status: os.stat_result) -> Entry:
        if stat.S_ISREG(status.st_mode):
            return File(name, place, functools.partial(self._read, parts, place))
        if stat.S_ISDIR(status.st_mode):
            return Folder(name, place, functools.partial(self.listed, parts, place))
        why = NO_LINKS if stat.S_ISLNK(status.st_mode) else f"is {kind_of(status)}"
        return unreadable(name, place, why)

    def entry(self, parts: Sequence[str], name: str, place: str) -> Entry:
        """Return what is at a path below the root, or the root itself.

        Raises:
            OSError: it does not exist, or cannot be reached without following a link.
        """
        with self._reached(parts) as (path, folder):
            status = os.stat(path, dir_fd=folder, follow_symlinks=not parts)
        return self._entry(parts, name, place, status)
