"""What goes back to the platform: marks in its own list, and a zip of feedback.

canvas.csv, moodle.csv                     to import, if the class's list is that platform's own
canvas-feedback.zip, moodle-feedback.zip   to upload
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensormark.classroom.entry import Entry
from tensormark.classroom.feedback import PAGE, RESULT
from tensormark.classroom.find import Found
from tensormark.classroom.hand_in import number_of
from tensormark.classroom.people import FileError
from tensormark.classroom.platforms.base import Mark, Platform
from tensormark.files import replaced, write_whole
from tensormark.reports.platforms import comments
from tensormark.reports.text import visible
from tensormark.zipped import write_zip

SHOWN = 40  # lines of one kind at most


def listed(name: str, what: str, lines: Sequence[str]) -> list[str]:
    """Return lines of one kind under a heading with their number; at most SHOWN of them."""
    if not lines:
        return []
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"{name}: {len(lines)} {what}:", *(f"  {line}" for line in lines[:SHOWN]), *more]


def _mark(entry: Entry, out: Path) -> Mark:
    report = out / entry.report / PAGE if entry.report else None
    text = ""
    if entry.report:
        text = comments(json.loads((out / entry.report / RESULT).read_bytes()))
    return Mark(entry.hand_in, entry.points, entry.without, report, text)


def _write_marks(
    found: Found, column: str, most: float, marks: Sequence[Mark], out: Path
) -> list[str]:
    """Fill in the list of the class, if it is a platform's own; return lines for staff."""
    class_list = found.class_list
    platform = found.listed_by
    if class_list is None or platform.name not in ("canvas", "moodle"):
        return []
    name = f"{platform.name}.csv"
    if platform.name == "canvas" and not column:
        return ["canvas: no canvas.csv, as class.toml does not say which column to fill"]
    try:
        filled = platform.marks(class_list, column, most, marks)
    except FileError as error:
        return [f"{platform.name}: no {name}: {error}"]
    write_whole(out / name, filled.text)
    warning = [f"{platform.name}: warning: {filled.warning}"] if filled.warning else []
    return [
        f"{platform.name}: {number_of(filled.count, 'mark')} in {name}",
        *listed(
            platform.name, "with another mark there, which this file replaces", filled.replaced
        ),
        *listed(platform.name, "without a new mark", filled.left),
        *warning,
    ]


def _write_feedback(platform: Platform, marks: Sequence[Mark], out: Path) -> list[str]:
    """Write the zip of feedback, if a platform has one; return lines for staff."""
    skipped: list[str] = []

    def files() -> Iterator[tuple[str, bytes]]:
        for name, content in platform.feedback(marks):
            if isinstance(content, bytes):
                yield name, content
            else:
                skipped.append(f"{visible(name, 200)}: {content}")

    path = out / f"{platform.name}-feedback.zip"
    count = 0
    with replaced(path) as file:
        count = write_zip(file, files())
    if not count:
        path.unlink()
        return listed(platform.name, "whose feedback cannot be uploaded", skipped)
    return [
        f"{platform.name}: {number_of(count, 'file')} of feedback in {path.name}",
        *listed(platform.name, "whose feedback is not in the zip", skipped),
    ]


def write(entries: Sequence[Entry], found: Found, column: str, out: Path) -> list[str]:
    """Write what goes back; return lines for staff.

    Raises:
        OSError: a file cannot be written.
    """
    most = max((float(entry.result["max_score"]) for entry in entries if entry.result), default=0.0)
    marks = [_mark(entry, out) for entry in entries]
    lines = _write_marks(found, column, most, marks, out)
    for platform in dict.fromkeys([found.platform, found.listed_by]):
        lines += _write_feedback(platform, marks, out)
    return lines
