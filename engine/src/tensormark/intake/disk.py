"""The files and folders of a hand-in on a disk.

Covered: below the folder that the user named, no link is followed and only folders and regular
files are opened, each relative to an open folder, so swapping a path in the meantime has no effect.
Not covered: systems that cannot open files relative to a folder (Windows).
"""

import contextlib
import dataclasses
import errno
import functools
import itertools
import os
import stat
from collections.abc import Iterator, Sequence

from tensormark.files import NO_LINK, SAFE_FLAGS, NotAFileError, kind_of, read_regular
from tensormark.intake.syntax import shown
from tensormark.intake.tree import Entry, File, Folder, UnreadableError, unreadable

MAX_ENTRIES = 10_000  # that are examined in a hand-in or a folder
NO_LINKS = "is a link, which is not followed; hand in the file itself"
FOLDER = SAFE_FLAGS | getattr(os, "O_DIRECTORY", 0)
RELATIVE = {os.open, os.stat} <= os.supports_dir_fd and os.scandir in os.supports_fd
Stamp = tuple[int, int, int]


def sentence(error: OSError | ValueError) -> str:
    """Return why something cannot be opened or read, to complete a sentence about it."""
    if isinstance(error, NotAFileError):
        return str(error)
    code = getattr(error, "errno", None)
    if code in (errno.ELOOP, errno.ENOTDIR):  # a parent is a link or not a folder
        return NO_LINKS
    return f"cannot be read ({os.strerror(code) if code else error})"


@dataclasses.dataclass
class Disk:
    """Reads one hand-in.

    Attributes:
        root: a path that the user typed, so it may itself be a link.
        stamps: modification time, size and inode number of each file that was read, by its place.
    """

    root: str
    stamps: dict[str, Stamp] = dataclasses.field(default_factory=dict)

    @contextlib.contextmanager
    def opened(self, parts: Sequence[str]) -> Iterator[int]:
        """Open a folder below the root."""
        handle = os.open(self.root, FOLDER)
        try:
            for part in parts:
                above, handle = handle, os.open(part, FOLDER | NO_LINK, dir_fd=handle)
                os.close(above)
            yield handle
        finally:
            os.close(handle)

    def read(self, parts: Sequence[str], place: str, max_bytes: int) -> bytes:
        """Read a file below the root, or the root itself."""
        try:
            if not parts:
                content, status = read_regular(self.root, max_bytes, follow=True)
            elif RELATIVE:
                with self.opened(parts[:-1]) as handle:
                    content, status = read_regular(parts[-1], max_bytes, handle)
            else:
                content, status = read_regular(os.path.join(self.root, *parts), max_bytes)
        except (OSError, ValueError) as error:
            raise UnreadableError(f"{shown(place)} {sentence(error)}".strip()) from error
        self.stamps[place] = status.st_mtime_ns, status.st_size, status.st_ino
        return content

    def status(self, parts: Sequence[str]) -> os.stat_result:
        """Return the status of a path below the root, or of the root itself.

        Raises:
            OSError: it does not exist, or cannot be reached without following a link.
        """
        if not parts:
            return os.stat(self.root)
        if not RELATIVE:
            return os.lstat(os.path.join(self.root, *parts))
        with self.opened(parts[:-1]) as handle:
            return os.stat(parts[-1], dir_fd=handle, follow_symlinks=False)

    def listed(self, parts: Sequence[str], place: str) -> list[Entry]:
        """Return the entries of a folder, sorted by name."""
        try:
            with contextlib.ExitStack() as stack:
                where: int | str = os.path.join(self.root, *parts)
                if RELATIVE:
                    where = stack.enter_context(self.opened(parts))
                scan = stack.enter_context(os.scandir(where))
                items = itertools.islice(scan, MAX_ENTRIES + 1)
                stats = {item.name: item.stat(follow_symlinks=False) for item in items}
        except (OSError, ValueError) as error:
            raise UnreadableError(f"{shown(place)} {sentence(error)}".strip()) from error
        return [
            self.entry((*parts, name), name, f"{place}/{name}" if place else name, status)
            for name, status in sorted(stats.items())
        ]

    def entry(self, parts: Sequence[str], name: str, place: str, status: os.stat_result) -> Entry:
        """Return the entry for a path below the root, or for the root itself."""
        if stat.S_ISREG(status.st_mode):
            return File(name, place, functools.partial(self.read, parts, place))
        if stat.S_ISDIR(status.st_mode):
            return Folder(name, place, functools.partial(self.listed, parts, place))
        why = NO_LINKS if stat.S_ISLNK(status.st_mode) else f"is {kind_of(status)}"
        return unreadable(name, place, why)
