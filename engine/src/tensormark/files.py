"""Digests, atomic writes, and reads of what may be anything."""

import contextlib
import hashlib
import itertools
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

# a system may lack a flag, as Windows does; what a path is has been looked at before
SAFELY = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # else opening a pipe waits for its writer
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class NotAFileError(OSError):
    """What should be a file is something else; the message completes a sentence about it."""


class TooLargeError(OSError):
    """A file is larger than it may be; the message completes a sentence about it."""


def digest(content: bytes) -> str:
    """Return the sha256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def sha256(path: Path) -> str:
    """Return the sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def free_path(path: Path, first: int = 1) -> Path:
    """Return the first of path-1, path-2 and so on that is not there."""
    paths = (Path(f"{path}-{count}") for count in itertools.count(first))
    return next(path for path in paths if not os.path.lexists(path))


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Open a file under a temporary name, renamed at the end: a reader never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(name, 0o644)  # mkstemp makes files that only the owner can read
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file that nobody sees half of; see `replaced`.

    Args:
        content: bytes, or text to write as UTF-8.
    """
    raw = content.encode("utf-8") if isinstance(content, str) else content
    with replaced(path) as file:
        file.write(raw)


def check_replaceable(path: Path, ending: str, given: str) -> None:
    """Check that a file may be written: one that is there and called otherwise is somebody's work.

    Args:
        ending: of the names of such files, such as ".zip".
        given: the option that names the path, as it was written.

    Raises:
        FileExistsError: it is there, and has another ending or is a device.
    """
    if path.is_file() and not path.name.lower().endswith(ending):
        raise FileExistsError(f"{given}: is there, and is not a {ending}; name another file")
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FileExistsError(f"{given}: is no regular file; name another file")


def is_folder(path: Path) -> bool:
    """Say whether something is a folder itself, and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def is_regular(path: Path) -> bool:
    """Say whether something is a file itself, and not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def kind_of(about: os.stat_result) -> str:
    """Return what something is, as people call it."""
    if stat.S_ISREG(about.st_mode):
        return "a file"
    if stat.S_ISLNK(about.st_mode):
        return "a link"
    return "a folder" if stat.S_ISDIR(about.st_mode) else "a pipe, a socket or a device"


@contextlib.contextmanager
def opened_regular(
    path: str | Path, within: int | None = None, follow: bool = False
) -> Iterator[BinaryIO]:
    """Open a file that somebody else may have put there, and nothing but a regular file.

    Args:
        within: the descriptor of a folder that the path begins at.
        follow: if it is a link, open the file that it leads to.

    Raises:
        NotAFileError: it is a link, a folder, a pipe or a device. OSError: it cannot be opened.
    """
    about = os.stat(path, dir_fd=within, follow_symlinks=follow)
    if not stat.S_ISREG(about.st_mode):
        raise NotAFileError(f"is {kind_of(about)}")
    handle = os.open(path, SAFELY | (0 if follow else NO_LINK), dir_fd=within)
    with open(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):  # it is another one by now
            raise NotAFileError(f"is {kind_of(about)}")
        yield file


def read_regular(
    path: str | Path, most: int, within: int | None = None, follow: bool = False
) -> tuple[bytes, os.stat_result]:
    """Read a file that somebody else may have put there, at most `most` bytes of it.

    Whatever it is, this neither waits nor reads without end; see `opened_regular`.
    """
    with opened_regular(path, within, follow) as file:
        about = os.fstat(file.fileno())
        parts = []
        while most > 0 and (part := file.read(min(most, about.st_size + 1, 1 << 20))):
            parts.append(part)
            most -= len(part)
    return b"".join(parts), about


def read_text(path: Path, most: int) -> str:
    """Read a text that a person has written or exported, at most `most` bytes; links are followed.

    Raises:
        NotAFileError: it is no file. TooLargeError: it is larger. UnicodeDecodeError: it is not
            UTF-8. OSError: it cannot be read.
    """
    content, _ = read_regular(path, most + 1, follow=True)
    if len(content) > most:
        raise TooLargeError(f"larger than {most >> 20} MiB")
    return content.decode("utf-8-sig")
