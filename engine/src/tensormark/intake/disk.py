"""The files and folders of a hand-in on a disk.

Covered: below the folder that a person has named, nothing is reached through a link, and nothing
but folders and regular files is opened, each relative to an open folder: what is put in its place
meanwhile changes nothing. Not covered: systems that cannot open relative to a folder (Windows).
"""

import contextlib
import dataclasses
import errno
import functools
import itertools
import os
import stat
from collections.abc import Iterator, Sequence

from tensormark.files import NO_LINK, SAFELY, NotAFileError, kind_of, read_regular
from tensormark.intake.syntax import shown
from tensormark.intake.tree import Entry, File, Folder, UnreadableError, no_file

MOST = 10_000  # entries of a hand-in, or of a folder, that are looked at
NO_LINKS = "is a link, which is not followed; hand in the file itself"
FOLDER = SAFELY | getattr(os, "O_DIRECTORY", 0)
RELATIVE = {os.open, os.stat} <= os.supports_dir_fd and os.scandir in os.supports_fd
Stamp = tuple[int, int, int]


def sentence(error: OSError | ValueError) -> str:
    """Say why something cannot be opened or read."""
    if isinstance(error, NotAFileError):
        return str(error)
    code = getattr(error, "errno", None)
    if code in (errno.ELOOP, errno.ENOTDIR):  # a folder on the way is none, or is a link
        return NO_LINKS
    return f"cannot be read ({os.strerror(code) if code else error})"


@dataclasses.dataclass
class Disk:
    """What is read of one hand-in.

    Attributes:
        root: a path that a person has typed, and so may be a link itself.
        stamps: of each file that was read, by its place: when it was written, its size and number.
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

    def read(self, parts: Sequence[str], place: str, most: int) -> bytes:
        """Read a file below the root, or the root itself."""
        try:
            if not parts:
                content, about = read_regular(self.root, most, follow=True)
            elif RELATIVE:
                with self.opened(parts[:-1]) as handle:
                    content, about = read_regular(parts[-1], most, handle)
            else:
                content, about = read_regular(os.path.join(self.root, *parts), most)
        except (OSError, ValueError) as error:
            raise UnreadableError(f"{shown(place)} {sentence(error)}".strip()) from error
        self.stamps[place] = about.st_mtime_ns, about.st_size, about.st_ino
        return content

    def about(self, parts: Sequence[str]) -> os.stat_result:
        """Return what is known of a path below the root, or of the root itself.

        Raises:
            OSError: it is not there, or not to be reached without following a link.
        """
        if not parts:
            return os.stat(self.root)
        if not RELATIVE:
            return os.lstat(os.path.join(self.root, *parts))
        with self.opened(parts[:-1]) as handle:
            return os.stat(parts[-1], dir_fd=handle, follow_symlinks=False)

    def listed(self, parts: Sequence[str], place: str) -> list[Entry]:
        """Return what is in a folder, in order."""
        try:
            with contextlib.ExitStack() as stack:
                where: int | str = os.path.join(self.root, *parts)
                if RELATIVE:
                    where = stack.enter_context(self.opened(parts))
                scan = stack.enter_context(os.scandir(where))
                items = itertools.islice(scan, MOST + 1)
                stats = {item.name: item.stat(follow_symlinks=False) for item in items}
        except (OSError, ValueError) as error:
            raise UnreadableError(f"{shown(place)} {sentence(error)}".strip()) from error
        return [
            self.entry((*parts, name), name, f"{place}/{name}" if place else name, about)
            for name, about in sorted(stats.items())
        ]

    def entry(self, parts: Sequence[str], name: str, place: str, about: os.stat_result) -> Entry:
        """Return a file or folder below the root, or the root itself."""
        if stat.S_ISREG(about.st_mode):
            return File(name, place, functools.partial(self.read, parts, place))
        if stat.S_ISDIR(about.st_mode):
            return Folder(name, place, functools.partial(self.listed, parts, place))
        why = NO_LINKS if stat.S_ISLNK(about.st_mode) else f"is {kind_of(about)}"
        return no_file(name, place, why)
