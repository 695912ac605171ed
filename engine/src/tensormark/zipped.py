"""Zips whose bytes depend on nothing but their files' names and contents."""

import io
import re
import zipfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from tensormark.files import check_replaceable
from tensormark.usage import option

OLDEST = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold
UNIX = 3
FILE = 0o100644
PROGRAM = 0o100755
SMALLEST = 9  # level of compression


def write_zip(
    file: BinaryIO,
    files: Iterable[tuple[str, bytes]],
    programs: Collection[str] = (),
    comment: bytes = b"",
) -> int:
    """Write a zip of files in their order, one in memory at a time; return how many there are.

    Args:
        programs: the paths of executable files.
    """
    with zipfile.ZipFile(file, "w") as archive:
        archive.comment = comment
        for name, content in files:
            entry = zipfile.ZipInfo(name, OLDEST)
            entry.create_system = UNIX
            entry.external_attr = (PROGRAM if name in programs else FILE) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, SMALLEST)
        return len(archive.namelist())


def zipped(files: Mapping[str, bytes], programs: Collection[str] = (), command: str = "") -> bytes:
    """Return a zip of files, sorted, with fixed dates and modes.

    Args:
        files: path to content.
        command: what writes the zip, if only the same command may replace it; see `check_zip`.
    """
    buffer = io.BytesIO()
    write_zip(buffer, sorted(files.items()), programs, _comment(command) if command else b"")
    return buffer.getvalue()


def _comment(command: str) -> bytes:
    return f"written by tensormark {command}".encode()


def check_zip(path: Path, command: str) -> None:
    """Check that a command may write its zip here, before it does any work.

    Raises:
        FileExistsError: another file exists.
    """
    mark = re.compile(re.escape(_comment(command)) + rb"\Z")
    check_replaceable(path, mark, option("out", path))
