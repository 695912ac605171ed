"""Zips whose bytes depend on nothing but their files' names and contents."""

import io
import zipfile
from collections.abc import Iterable, Mapping
from typing import BinaryIO

OLDEST = (1980, 1, 1, 0, 0, 0)  # the first date that a zip can hold
UNIX = 3
FILE, PROGRAM = 0o100644, 0o100755
SMALLEST = 9  # level of compression


def _add(archive: zipfile.ZipFile, name: str, content: bytes, mode: int = FILE) -> None:
    entry = zipfile.ZipInfo(name, OLDEST)
    entry.create_system = UNIX
    entry.external_attr = mode << 16
    archive.writestr(entry, content, zipfile.ZIP_DEFLATED, SMALLEST)


def zipped(files: Mapping[str, bytes], programs: Iterable[str] = ()) -> bytes:
    """Return a zip of files, sorted, with fixed dates and modes.

    Args:
        files: path to content.
        programs: the paths of executable files.
    """
    buffer, executable = io.BytesIO(), set(programs)
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            _add(archive, name, files[name], PROGRAM if name in executable else FILE)
    return buffer.getvalue()


def write_zip(file: BinaryIO, files: Iterable[tuple[str, bytes]]) -> int:
    """Write a zip of files in their order, one in memory at a time; return how many there are."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files:
            _add(archive, name, content)
        return len(archive.namelist())
