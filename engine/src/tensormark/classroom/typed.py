"""Reads files that staff give about a class: bounded, with errors that say where."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from tensormark.classroom.failure import FileError
from tensormark.files import NotAFileError, TooLargeError, read_text
from tensormark.reports.text import visible

LARGEST = 1 << 20  # bytes of a file that somebody has typed


def small_text(path: Path, largest: int = LARGEST) -> str:
    """Read a file by the instructor.

    Raises:
        FileError: it is too large, not text, or cannot be read.
    """
    try:
        return read_text(path, largest)
    except TooLargeError as error:
        raise FileError(f"{path}: is {error}; name another file") from error
    except NotAFileError as error:
        raise FileError(f"{path}: {error}; name a file") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is not UTF-8 text; save it as UTF-8") from error
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error


def separator_of(text: str) -> str:
    """Return the separator of cells in the first line: a comma, semicolon or tab."""
    unquoted = "".join(re.split("[\r\n]", text, maxsplit=1)[0].split('"')[::2])
    return max(",;\t", key=unquoted.count)


def rows_of(path: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield where each row of a CSV file ends, and its cells.

    Raises:
        FileError: it is not a CSV file.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text), strict=True)
    try:
        for row in reader:
            yield f"{path}, line {reader.line_num}", row
    except csv.Error as error:
        raise FileError(f"{path}, line {reader.line_num}: not a CSV file ({error})") from error


def lines_of(path: Path, largest: int = LARGEST) -> Iterator[tuple[str, list[str]]]:
    """Yield where each row of a CSV file is, and its cells; blank rows are skipped.

    Raises:
        FileError: it cannot be read, or is not a CSV file.
    """
    for where, row in rows_of(path, small_text(path, largest)):
        cells = [cell.strip() for cell in row]
        while cells and not cells[-1]:  # spreadsheets write empty cells at the end
            cells.pop()
        if cells:
            yield where, cells


def plain(text: str, most: int) -> str:
    """Return text that somebody wrote, printable and bounded."""
    return visible(text, most)[: most + 4]  # an escape is longer than what it replaces
