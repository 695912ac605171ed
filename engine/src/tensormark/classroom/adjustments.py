"""adjustments.csv: points that staff add or take away, if it lies in OUT.

Its columns are student, points and reason, such as `ada,-5,two days late`. It is never written.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from tensormark.classroom.entry import Adjustment, Entry
from tensormark.classroom.people import FileError, read_table
from tensormark.reports.platforms import cell
from tensormark.reports.text import visible

FILE = "adjustments.csv"
MOST = 1_000_000  # points
COLUMNS = ("student", "points", "reason")


def student_named(where: str, text: str, entries: Sequence[Entry]) -> int:
    """Return the place of the student whom staff mean: as in the gradebook, or by name.

    In the gradebook no cell is a formula, so that an id may have an apostrophe before it.

    Raises:
        FileError: that is nobody, or not the only one; it begins with `where`.
    """
    places = range(len(entries))
    by_id = [i for i in places if text in (entries[i].student, cell(entries[i].student))]
    found = by_id or [i for i in places if entries[i].name == text]
    if len(found) != 1:
        fix = "take a name from the student column of gradebook.csv"
        raise FileError(f"{where}: no single student is called {visible(text, 60)!r}; {fix}")
    return found[0]


def _points(where: str, text: str) -> float:
    try:
        points = float(text.lstrip("'").replace(",", "."))
    except ValueError:
        points = float("nan")
    if not abs(points) <= MOST:
        raise FileError(f"{where}: {visible(text, 60)!r} is not a number of points")
    return points


def read(path: Path, entries: Sequence[Entry]) -> dict[int, list[Adjustment]]:
    """Return the adjustments of each student, by place; none if there is no such file.

    Raises:
        FileError: it cannot be read, or a row does not say what to do.
    """
    if not os.path.lexists(path):
        return {}
    table = read_table(path)
    titles = table.titles
    missing = [title for title in COLUMNS if title not in titles]
    if missing:
        raise FileError(f"{path}: its first line has no column {missing[0]}; {', '.join(COLUMNS)}")
    found: dict[int, list[Adjustment]] = {}
    for number, row in enumerate(table.rows[1:], start=2):
        cells = [text.strip() for text in row]
        if not any(cells):
            continue
        where = f"{path}, row {number}"
        if any(cells[len(titles) :]):
            fix = "put double quotes around text that has a comma"
            raise FileError(f"{where}: has more cells than the first line; {fix}")
        named = dict(zip(titles, cells, strict=False))
        place = student_named(where, named.get("student", ""), entries)
        reason = named.get("reason")
        if not reason:
            raise FileError(f"{where}: gives no reason, which the student reads")
        points = _points(where, named.get("points", ""))
        found.setdefault(place, []).append(Adjustment(points, visible(reason, 300)))
    return found
