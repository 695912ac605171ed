"""What goes back to the platform: its own list with the marks, and a zip of feedback.

marks.csv      the class list, in which one column is filled in and nothing else is changed
feedback.zip   the reports that have changed, named as the platform wants it
"""

import itertools
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tensormark.characters import first_of
from tensormark.classroom.entry import Entry, number_of
from tensormark.classroom.feedback import FOLDER
from tensormark.classroom.find import Found
from tensormark.classroom.people import CsvTable, FileError, meaning
from tensormark.classroom.platforms.base import ANY_TITLE, Platform, number
from tensormark.files import replaced, write_whole
from tensormark.reports.text import points
from tensormark.zipped import write_zip

MARKS = "marks.csv"
ZIP = "feedback.zip"
# whose feedback is packed, as in class.toml: only what has changed, or everybody's
CHANGED = "changed"
ALL = "all"
SHOWN = 40  # lines of one kind at most
ROUNDED = 0.005  # half of the last decimal that a platform shows
DECIMAL = re.compile(r"-?[0-9]+([.,])[0-9]{1,2}")


def listed(name: str, what: str, lines: Sequence[str]) -> list[str]:
    """Return lines of one kind under a heading with their number; at most SHOWN of them."""
    if not lines:
        return []
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"{name}: {len(lines)} {what}:", *(f"  {line}" for line in lines[:SHOWN]), *more]


class Column(NamedTuple):
    """The column of marks in the class list: its place, and the most that it takes."""

    table: CsvTable
    place: int
    most: float | None


def column_of(found: Found, wanted: str) -> Column | None:
    """Return the column to fill; None if there is no list, or nobody has named its column.

    Args:
        wanted: its title, with or without what the platform adds to the name. A platform's only
            column need not be named.

    Raises:
        FileError: there is no such column, or the platform would not import the list.
    """
    table = found.table
    platform = found.listed_by
    if table is None or (platform.grades == ANY_TITLE and not wanted):
        return None
    platform.check(table)
    title_wanted = wanted.strip().casefold()
    possible = []
    hits = []
    for place, title in enumerate(table.titles):
        match = platform.grades.fullmatch(title)
        if match is None or meaning(title, dict(platform.columns)):
            continue
        possible.append(place)
        if title_wanted in ("", title, match["name"]):
            hits.append(place)
    if len(hits) == 1:
        return Column(table, hits[0], platform.most(table, hits[0]))
    titles = first_of([table.rows[0][place][:100] for place in possible]) or "none"
    count = "several columns" if hits else "no column"
    titled = f" titled {wanted[:60]!r}" if wanted else ""
    raise FileError(
        f"{table.path}: has {count} of marks{titled}; set column in class.toml to one of "
        f"these titles: {titles}"
    )


def limit(entries: Sequence[Entry], column: Column | None, kept: bool) -> list[str]:
    """Keep points between 0 and the maximum; return lines for staff.

    The maximum is the column's if it has one, else the assignment's.

    Args:
        kept: whether to change points; if not, there are only lines on what is unusual.
    """
    maxima = [float(entry.result["max_score"]) for entry in entries if entry.result]
    given = max(maxima, default=0.0)
    most = column.most if column and column.most is not None else given
    limited = []
    if kept:
        for entry in entries:
            entry.most = most
            if entry.is_limited:
                limited.append(f"{entry.label}: {entry.total:g} becomes {entry.points:g}")
    lines = listed("points", f"kept between 0 and {points(most)}", limited)
    alone = [
        f"{entry.label}: {points(entry.points)} ({entry.why_ungraded})"
        for entry in entries
        if entry.score is None and entry.points is not None
    ]
    lines += listed("points", "from adjustments only", alone)
    if most != given:
        said = f"the column takes {points(most)} points, the assignment gives {points(given)}"
        lines.append(f"points: warning: {said}, and nothing is scaled")
    return lines


def _decimal(table: CsvTable, place: int) -> str:
    """Return the decimal point or comma: as in a column or, if that has none, in the file."""
    own = [row[place] for row in table.rows if place < len(row)]
    for text in itertools.chain(own, *table.rows):
        match = DECIMAL.fullmatch(text.strip())
        if match:
            return match[1]
    return "," if table.separator == ";" else "."


def _fault(entry: Entry, platform: Platform, old: str) -> str:
    """Return why a student's points do not become a new mark; "" if they do.

    Args:
        old: the text that is now in the cell.
    """
    if entry.points is None:
        return entry.why_ungraded
    if number(old) is None and not platform.waiting.fullmatch(old):
        return f"has {old[:40]!r} there, which is kept"
    return platform.refuses(entry)


def _write_marks(found: Found, column: Column, out: Path) -> list[str]:
    """Fill in the column; return lines for staff."""
    table, place, _ = column
    decimal = _decimal(table, place)
    marks = {}
    changed = []
    unchanged = []
    for entry in found.entries:
        if entry.row is None:
            continue
        row = table.rows[entry.row]
        old = row[place].strip() if place < len(row) else ""
        before = number(old)
        mark = entry.points
        fault = _fault(entry, found.listed_by, old)
        if mark is None or fault:
            kept = f"; keeps {old[:40]}" if before is not None else ""
            unchanged.append(f"{entry.label}: {fault}{kept}")
            continue
        marks[entry.row] = points(mark).replace(".", decimal)
        if before is not None and abs(before - mark) >= ROUNDED:
            changed.append(f"{entry.label}: {old[:40]} becomes {points(mark)}")
    write_whole(out / MARKS, table.filled(place, marks))
    return [
        f"{MARKS}: {number_of(len(marks), 'mark')} in the column {table.rows[0][place][:60]!r}",
        *listed(MARKS, "with another mark there, which this file replaces", changed),
        *listed(MARKS, "without a new mark", unchanged),
    ]


def _write_feedback(
    platform: Platform, entries: Sequence[Entry], chosen: str, out: Path
) -> list[str]:
    """Write the zip of feedback, if a platform takes one; return lines for staff.

    Args:
        chosen: see `write`.
    """
    skipped: list[str] = []

    def files() -> Iterator[tuple[str, bytes]]:
        """Yield the files of the zip, and note those that cannot be in it."""
        for entry, name, content in platform.feedback(entries, out / FOLDER):
            if chosen != ALL and not entry.changed:
                continue
            if isinstance(content, bytes):
                yield name, content
            else:
                skipped.append(f"{name}: {content}")

    path = out / ZIP
    with replaced(path) as file:
        count = write_zip(file, files())
    if not count:
        path.unlink()
        return listed("feedback", "cannot be uploaded", skipped)
    return [
        f"{ZIP}: {number_of(count, 'file')} of feedback for {platform.name}",
        *listed(ZIP, "without feedback in it", skipped),
    ]


def write(found: Found, column: Column | None, chosen: str, out: Path, before: Path) -> list[str]:
    """Write what goes back; return lines for staff.

    Args:
        chosen: whose reports are in the zip: ALL, or those that have changed.
        before: where an earlier run wrote the same.

    Raises:
        OSError: a file cannot be written.
    """
    changed = [entry for entry in found.entries if entry.changed]
    old = sorted(path.name for path in (before / FOLDER).glob("*"))
    gone = [name for name in old if not (out / FOLDER / name).exists()]
    lines = _write_marks(found, column, out) if column else []
    if changed and old:
        names = first_of([entry.label for entry in changed])
        lines.append(f"feedback: {number_of(len(changed), 'report')} changed: {names}")
        if column and found.listed_by.advice:
            lines.append(f"{MARKS}: {found.listed_by.advice}")
    if gone:
        lines.append(f"feedback: {number_of(len(gone), 'report')} deleted: {first_of(gone)}")
    packed = out / ZIP
    # the platform of the files, or that of the list, whichever takes feedback
    for platform in dict.fromkeys([found.platform, found.listed_by]):
        if not packed.exists():
            lines += _write_feedback(platform, found.entries, chosen, out)
    if packed.exists() and old and chosen != ALL:
        fix = f'set feedback = "{ALL}" in class.toml unless you have uploaded the others'
        lines.append(f"{ZIP}: only what has changed; {fix}")
    elif not packed.exists() and (before / ZIP).exists():
        shutil.copy(before / ZIP, packed)  # nobody knows whether it has been uploaded
        lines.append(f"{ZIP}: as before, since there is no new report for it")
    return lines
