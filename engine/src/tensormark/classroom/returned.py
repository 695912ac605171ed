"""What goes back to the platform: its own list with the marks, and a zip of feedback.

marks.csv      the list of the class, in which one column is filled in and nothing else is changed
feedback.zip   the reports that have changed, named as the platform wants it
"""

import dataclasses
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensormark.classroom.entry import ALL, Entry, first_of, number_of
from tensormark.classroom.feedback import FOLDER
from tensormark.classroom.find import Found
from tensormark.classroom.people import FileError, Table
from tensormark.classroom.platforms.base import ANY_TITLE, Platform, number
from tensormark.files import replaced, write_whole
from tensormark.reports.text import points
from tensormark.zipped import write_zip

MARKS = "marks.csv"
ZIP = "feedback.zip"
SHOWN = 40  # lines of one kind at most
ROUNDED = 0.005  # half of the last decimal that a platform shows
DECIMAL = re.compile(r"-?[0-9]+([.,])[0-9]{1,2}")


def listed(name: str, what: str, lines: Sequence[str]) -> list[str]:
    """Return lines of one kind under a heading with their number; at most SHOWN of them."""
    if not lines:
        return []
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"{name}: {len(lines)} {what}:", *(f"  {line}" for line in lines[:SHOWN]), *more]


@dataclasses.dataclass(frozen=True)
class Column:
    """The column of marks in the list of the class.

    Attributes:
        platform: whose list it is; place: of the column; most: what it takes, if that is known.
    """

    table: Table
    platform: Platform
    place: int
    most: float | None

    @property
    def title(self) -> str:
        """Its title."""
        return self.table.rows[0][self.place][:60]

    @property
    def decimal(self) -> str:
        """The decimal point or comma: as in the column or, if that has none, in the file."""
        rows = self.table.rows
        own = [text for row in rows for text in row[self.place : self.place + 1]]
        for text in [*own, *(text for row in rows for text in row)]:
            match = DECIMAL.fullmatch(text.strip())
            if match:
                return match[1]
        return "," if self.table.separator == ";" else "."


def most_of(entries: Sequence[Entry]) -> float:
    """Return the points that the assignment gives."""
    return max((float(entry.result["max_score"]) for entry in entries if entry.result), default=0.0)


def column_of(found: Found, wanted: str) -> Column | None:
    """Return the column to fill; None if there is no list, or nobody has named its column.

    Args:
        wanted: its title, with or without what the platform adds to the name. A platform's only
            column need not be named.

    Raises:
        FileError: there is no such column, or marks in it would not be imported.
    """
    table = found.table
    platform = found.listed_by
    if table is None or (platform.grades == ANY_TITLE and not wanted):
        return None
    platform.check(table)
    matches = [platform.grades.fullmatch(title) for title in table.titles]
    names = {place: (match[0], match["name"]) for place, match in enumerate(matches) if match}
    own = wanted.strip().casefold()
    hits = [place for place, known in names.items() if not own or own in known]
    if len(hits) != 1:
        titles = "; ".join(table.rows[0][place][:100] for place in [*names][:SHOWN]) or "none"
        count = "several columns" if hits else "no column"
        raise FileError(
            f"{table.path}: has {count} titled {wanted[:60]!r}; set column in class.toml to one of "
            f"these titles: {titles}"
        )
    column = Column(table, platform, hits[0], platform.most(table, hits[0]))
    most = most_of(found.entries)
    if column.most is not None and column.most < most:
        raise FileError(
            f"{table.path}: {column.title!r} takes {points(column.most)} points, and the "
            f"assignment gives {points(most)}; change that on the platform, and download it again"
        )
    return column


def limit(entries: Sequence[Entry], column: Column | None) -> list[str]:
    """Keep points between 0 and the maximum, the column's if that is higher; say whose changed."""
    most = max(most_of(entries), (column and column.most) or 0.0)
    lines = []
    for entry in entries:
        before = entry.points
        entry.most = most
        if before != entry.points:
            lines.append(f"{entry.called}: {before:g} becomes {entry.points:g}")
    return listed("points", f"kept between 0 and {points(most)}", lines)


def _write_marks(column: Column, entries: Sequence[Entry], out: Path) -> list[str]:
    """Fill in the column; return lines for staff."""
    table = column.table
    texts: dict[int, str] = {}
    other: list[str] = []
    left: list[str] = []
    for entry in entries:
        if entry.row is None:
            continue
        row = table.rows[entry.row]
        old = "".join(row[column.place : column.place + 1]).strip()
        before = number(old)
        mark = entry.points
        fault = column.platform.refuses(table.named(row))
        if before is None and not column.platform.waiting.fullmatch(old):
            fault = f"has {old[:40]!r} there, which is kept"
        if mark is None or fault:
            left.append(f"{entry.called}: {fault if mark is not None else entry.without}")
            continue
        texts[entry.row] = points(mark).replace(".", column.decimal)
        if before is not None and abs(before - mark) >= ROUNDED:
            other.append(f"{entry.called}: {old[:40]} becomes {points(mark)}")
    write_whole(out / MARKS, table.filled(column.place, texts))
    most = most_of(entries)
    warning = []
    if column.most not in (None, most):
        said = f"it takes {points(column.most or 0.0)} points, the assignment gives {points(most)}"
        warning = [f"{MARKS}: warning: {said}, and nothing is scaled"]
    return [
        f"{MARKS}: {number_of(len(texts), 'mark')} in the column {column.title!r}",
        *listed(MARKS, "with another mark there, which this file replaces", other),
        *listed(MARKS, "without a new mark", left),
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
    is_first = not (before / FOLDER).exists()
    lines = _write_marks(column, found.entries, out) if column else []
    if changed and not is_first:
        names = first_of([entry.called for entry in changed])
        lines.append(f"feedback: {number_of(len(changed), 'report')} changed: {names}")
        if column and column.platform.advice:
            lines.append(f"{MARKS}: {column.platform.advice}")
    if chosen == ALL:
        changed = found.entries
    elif not changed and (before / ZIP).exists():
        shutil.copy(before / ZIP, out / ZIP)
        lines.append(f"{ZIP}: as before, since no report has changed")
    elif not is_first:
        lines.append(f'{ZIP}: only what has changed; feedback = "{ALL}" in class.toml packs all')
    for platform in dict.fromkeys([found.platform, found.listed_by]):
        if not (out / ZIP).exists():
            lines += _write_feedback(platform, changed, out)
    return lines
