"""Digests, atomic writes, safe reads of untrusted files, and text between two marks in a file."""

import contextlib
import hashlib
import io
import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

# O_NONBLOCK: otherwise, opening a pipe waits for its writer
SAFE_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
MAX_PART = 1 << 20  # bytes that are read at once
LARGEST = 1 << 30  # bytes of what a command writes
PAGE = re.compile(rb"default-src 'none'; style-src 'sha256-")  # how the pages that we write begin


class NotAFileError(OSError):
    """Something is not a regular file; the message completes a sentence about it."""


class TooLargeError(OSError):
    """A file is too large; the message completes a sentence about it."""


def digest(content: bytes) -> str:
    """Return the sha256 of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def sha256(path: Path) -> str:
    """Return the sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def python_files(folder: Path) -> dict[str, Path]:
    """Return the Python files of a folder and of the packages in it, by name: "package/main.py"."""
    found = sorted(folder.rglob("*.py"))
    return {path.relative_to(folder).as_posix(): path for path in found}


def module_of(file: str) -> str:
    """Return the name of the module in a file: "package.main" for "package/main.py"."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def sources_in(folder: Path) -> dict[str, str]:
    """Return the texts of a folder's Python files, by module."""
    files = python_files(folder).items()
    return {module_of(name): path.read_text(encoding="utf-8") for name, path in files}


def expanded(path: str) -> str:
    """Return a path with ~ replaced; not every shell does that in SUBMISSION=~/main.py."""
    return path if os.path.lexists(path) else os.path.expanduser(path)


# --- writing --------------------------------------------------------------------------------------


@contextlib.contextmanager
def for_staff() -> Iterator[None]:
    """Make all that a `with` block creates readable by this user only."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[io.BufferedRandom]:
    """Open a file under a temporary name, renamed at the end: readers never see half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name[:100]}.{os.urandom(4).hex()}")
    try:
        with unfinished.open("x+b") as file:
            yield file
        os.replace(unfinished, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        # an error such as a full disk names no file, or the temporary one, which nobody knows
        names = (None, str(unfinished))
        if isinstance(error, OSError) and error.errno and error.filename in names:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder to fill; at the end, rename it to `path`, or remove it on failure.

    Raises:
        FileExistsError: `path` exists, and is not an empty folder.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{path}: already exists; remove it, or name another folder")
    unfinished = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        os.replace(unfinished, path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def encoded(text: str) -> bytes:
    """Return a text as UTF-8; a lone surrogate, which has no such form, is escaped."""
    return text.encode("utf-8", "backslashreplace")


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file atomically; see `replaced` and `encoded`."""
    with replaced(path) as file:
        file.write(encoded(content) if isinstance(content, str) else content)


def check_replaceable(path: Path, mark: re.Pattern[bytes], given: str) -> None:
    """Check that a file may be written; one without the command's mark is somebody's work.

    Args:
        mark: matches in the first or the last kilobyte of what the command writes.
        given: the option that names the path, as it was written.

    Raises:
        FileExistsError: it exists without the mark, or is no regular file.
        PermissionError: its folder is not writable.
    """
    if path.is_dir():
        raise FileExistsError(f"{given}: is a folder; give the name of a file in it")
    if path.is_file():
        content, _ = read_regular(path, LARGEST, follow=True)
        if not mark.search(content[:1024]) and not mark.search(content[-1024:]):
            raise FileExistsError(
                f"{given}: already exists, and this command did not write it; "
                "move it, or name another file"
            )
    elif path.exists():
        raise FileExistsError(f"{given}: is not a regular file; name another file")
    if path.parent.is_dir() and not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{given}: the folder {path.parent} is not writable")


# --- reading what others wrote --------------------------------------------------------------------


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder itself, not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def kind_of(status: os.stat_result) -> str:
    """Return what a path is, in words."""
    if stat.S_ISREG(status.st_mode):
        return "a file"
    if stat.S_ISLNK(status.st_mode):
        return "a link"
    return "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe, a socket or a device"


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NotAFileError(f"is {kind_of(status)}")


def read_regular(
    path: str | Path, max_bytes: int, within: int | None = None, follow: bool = False
) -> tuple[bytes, os.stat_result]:
    """Read an untrusted path, at most `max_bytes` of it, but only if it is a regular file.

    Whatever it is, this neither blocks nor reads endlessly.

    Args:
        within: the descriptor of a folder that the path is relative to.
        follow: if it is a link, read its target.

    Raises:
        NotAFileError: it is a link, a folder, a pipe or a device. OSError: it cannot be read.
    """
    _check_regular(os.stat(path, dir_fd=within, follow_symlinks=follow))
    handle = os.open(path, SAFE_FLAGS | (0 if follow else os.O_NOFOLLOW), dir_fd=within)
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        _check_regular(status)  # it may have been replaced in the meantime
        content = bytearray()
        most = min(status.st_size + 1, MAX_PART)  # no more memory than the file needs
        while len(content) < max_bytes:
            part = file.read(min(max_bytes - len(content), most))
            if not part:
                break
            content += part
    return bytes(content), status


def read_whole(path: Path, max_bytes: int) -> bytes:
    """Read a file that a person wrote or exported, of limited size; links are followed.

    Raises:
        NotAFileError: it is not a file. TooLargeError: it is too large. OSError: it cannot be read.
    """
    content, _ = read_regular(path, max_bytes + 1, follow=True)
    if len(content) > max_bytes:
        raise TooLargeError(f"larger than {max_bytes >> 20} MiB")
    return content


def read_text(path: Path, max_bytes: int) -> str:
    """Read a text file; see `read_whole`.

    Raises:
        UnicodeDecodeError: it is not UTF-8. OSError: it cannot be read.
    """
    return read_whole(path, max_bytes).decode("utf-8-sig")


# --- a text between two marks ---------------------------------------------------------------------


def between(text: str, mark: str) -> str:
    """Return the text between `<!-- mark:begin -->` and `<!-- mark:end -->`; a newline if none."""
    _, begin, rest = text.partition(f"<!-- {mark}:begin -->")
    inside, end, _ = rest.partition(f"<!-- {mark}:end -->")
    return inside if begin and end else "\n"


def put_between(text: str, mark: str, inside: str) -> str:
    """Replace the text between two marks; see `between`.

    Raises:
        ValueError: the marks are missing.
    """
    begin = f"<!-- {mark}:begin -->"
    end = f"<!-- {mark}:end -->"
    head, opening, rest = text.partition(begin)
    _, closing, tail = rest.partition(end)
    if not opening or not closing:
        raise ValueError(f"no section between {begin} and {end}")
    return f"{head}{begin}{inside}{end}{tail}"
