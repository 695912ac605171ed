"""What goes back to the platform: marks in its own list, and a zip of feedback.

canvas.csv, moodle.csv                     to import, if the class's list is that platform's own
canvas-feedback.zip, moodle-feedback.zip   to upload
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tensormark.classroom.entry import Entry, number_of
from tensormark.classroom.feedback import FOLDER
from tensormark.classroom.find import Found
from tensormark.classroom.people import FileError
from tensormark.classroom.platforms.base import Platform
from tensormark.files import replaced, write_whole
from tensormark.zipped import write_zip

SHOWN = 40  # lines of one kind at most


def listed(name: str, what: str, lines: Sequence[str]) -> list[str]:
    """Return lines of one kind under a heading with their number; at most SHOWN of them."""
    if not lines:
        return []
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"{name}: {len(lines)} {what}:", *(f"  {line}" for line in lines[:SHOWN]), *more]


def _write_marks(found: Found, column: str, most: float, out: Path) -> list[str]:
    """Fill in the list of the class, if it is a platform's own; return lines for staff."""
    platform = found.listed_by
    name = f"{platform.name}.csv"
    try:
        table = found.table
        filled = platform.marks(table, column, most, found.entries) if table else None
    except FileError as error:
        return [f"{platform.name}: no {name}: {error}"]
    if filled is None:
        return []
    write_whole(out / name, filled.text)
    changed = "with another mark there, which this file replaces"
    warning = [f"{platform.name}: warning: {filled.warning}"] if filled.warning else []
    return [
        f"{platform.name}: {number_of(len(filled.marks), 'mark')} in {name}",
        *listed(platform.name, changed, filled.replaced),
        *listed(platform.name, "without a new mark", filled.left),
        *warning,
    ]


def _write_feedback(platform: Platform, entries: Sequence[Entry], out: Path) -> list[str]:
    """Write the zip of feedback, if a platform has one; return lines for staff."""
    skipped: list[str] = []

    def files() -> Iterator[tuple[str, bytes]]:
        for name, content in platform.feedback(entries, out / FOLDER):
            if isinstance(content, bytes):
                yield name, content
            else:
                skipped.append(f"{name}: {content}")

    path = out / f"{platform.name}-feedback.zip"
    with replaced(path) as file:
        count = write_zip(file, files())
    if not count:
        path.unlink()
        return listed(platform.name, "whose feedback cannot be uploaded", skipped)
    return [
        f"{platform.name}: {number_of(count, 'file')} of feedback in {path.name}",
        *listed(platform.name, "whose feedback is not in the zip", skipped),
    ]


def write(found: Found, column: str, out: Path) -> list[str]:
    """Write what goes back; return lines for staff.

    Raises:
        OSError: a file cannot be written.
    """
    results = (entry.result for entry in found.entries)
    most = max((float(result["max_score"]) for result in results if result), default=0.0)
    lines = _write_marks(found, column, most, out)
    for platform in dict.fromkeys([found.platform, found.listed_by]):
        lines += _write_feedback(platform, found.entries, out)
    return lines
