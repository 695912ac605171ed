"""Zips whose bytes depend on nothing but their files' names and contents."""

import io
import re
import zipfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

from tensormark.files import check_replaceable
from tensormark.usage import UserError, option

OLDEST = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold
UNIX = 3
FILE = 0o100644
PROGRAM = 0o100755
SMALLEST = 9  # level of compression


def _add(archive: zipfile.ZipFile, name: str, content: bytes, mode: int = FILE) -> None:
    entry = zipfile.ZipInfo(name, OLDEST)
    entry.create_system = UNIX
    entry.external_attr = mode << 16
    archive.writestr(entry, content, zipfile.ZIP_DEFLATED, SMALLEST)


def zipped(files: Mapping[str, bytes], programs: Collection[str] = (), command: str = "") -> bytes:
    """Return a zip of files, sorted, with fixed dates and modes.

    Args:
        files: path to content.
        programs: the paths of executable files.
        command: what writes the zip, if only the same command may replace it; see `check_zip`.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        if command:
            archive.comment = _comment(command)
        for name in sorted(files):
            _add(archive, name, files[name], PROGRAM if name in programs else FILE)
    return buffer.getvalue()


def _comment(command: str) -> bytes:
    return f"written by tensormark {command}".encode()


def check_zip(path: Path, command: str) -> None:
    """Check that a command may write its zip here, before it does any work.

    Raises:
        FileExistsError: another file exists. UserError: it is no name of a zip.
    """
    given = option("out", path)
    check_replaceable(path, re.compile(re.escape(_comment(command)) + rb"\Z"), given)
    if path.suffix.lower() != ".zip":
        raise UserError(f"{given}: the name of the zip must end in .zip")


def write_zip(file: BinaryIO, files: Iterable[tuple[str, bytes]]) -> int:
    """Write a zip of files in their order, one in memory at a time; return how many there are."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files:
            _add(archive, name, content)
        return len(archive.namelist())
