"""Reads files that staff have written about a class: bounded, with errors that say where."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from tensormark.classroom.failure import LedgerError
from tensormark.classroom.roster import separator_of
from tensormark.files import NotAFileError, TooLargeError, read_text
from tensormark.reports.text import visible

LARGEST = 1 << 20  # bytes of a file that somebody has typed


def small_text(path: Path, largest: int = LARGEST) -> str:
    """Read a file by the instructor.

    Raises:
        LedgerError: it is too large, not text, or cannot be read.
    """
    try:
        return read_text(path, largest)
    except TooLargeError as error:
        raise LedgerError(f"{path}: is {error}; name another file") from error
    except NotAFileError as error:
        raise LedgerError(f"{path}: {error}; name a file") from error
    except UnicodeDecodeError as error:
        raise LedgerError(f"{path}: is not UTF-8 text; save it as UTF-8") from error
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read ({error.strerror or error})") from error


def lines_of(path: Path, largest: int = LARGEST) -> Iterator[tuple[str, list[str]]]:
    """Yield where each row of a CSV file is, and its cells; blank rows are skipped.

    Raises:
        LedgerError: it cannot be read, or is not a CSV file.
    """
    text = small_text(path, largest)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator_of(text), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            while cells and not cells[-1]:  # spreadsheets write empty cells at the end
                cells.pop()
            if cells:
                yield f"{path}, line {reader.line_num}", cells
    except csv.Error as error:
        raise LedgerError(f"{path}, line {reader.line_num}: not a CSV file ({error})") from error


def plain(text: str, most: int) -> str:
    """Return text that somebody wrote, printable and bounded."""
    return visible(text, most)[: most + 4]  # an escape is longer than what it replaces
