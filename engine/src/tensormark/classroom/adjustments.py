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


def student_named(where: str, text: str, entries: Sequence[Entry]) -> Entry:
    """Return the student whom staff mean: as in the gradebook, or by name.

    In the gradebook no cell is a formula, so that an id may have an apostrophe before it.

    Raises:
        FileError: that is nobody, or not the only one; it begins with `where`.
    """
    found = [each for each in entries if text in (each.student, cell(each.student))]
    found = found or [each for each in entries if each.name == text]
    if len(found) != 1:
        fix = "take a name from the student column of gradebook.csv"
        raise FileError(f"{where}: no single student is called {text[:60]!r}; {fix}")
    return found[0]


def _points(where: str, text: str) -> float:
    try:
        points = float(text.lstrip("'").replace(",", "."))
    except ValueError:
        points = float("nan")
    if not abs(points) <= MOST:
        raise FileError(f"{where}: {text[:60]!r} is not a number of points")
    return points


def read(path: Path, entries: Sequence[Entry]) -> None:
    """Give the students their adjustments, if there are any.

    Raises:
        FileError: the file cannot be read, or a row does not say what to do.
    """
    if not os.path.lexists(path):
        return
    table = read_table(path)
    titles = table.titles
    missing = [title for title in COLUMNS if title not in titles]
    if missing:
        raise FileError(f"{path}: its first line has no column {missing[0]}; {', '.join(COLUMNS)}")
    for number, row in enumerate(table.rows[1:], start=2):
        where = f"{path}, row {number}"
        if any(text.strip() for text in row[len(titles) :]):
            fix = "put double quotes around text that has a comma"
            raise FileError(f"{where}: has more cells than the first line; {fix}")
        named = table.named(row)
        if not named:
            continue
        student = student_named(where, named.get("student", ""), entries)
        reason = named.get("reason")
        if not reason:
            raise FileError(f"{where}: gives no reason, which the student reads")
        points = _points(where, named.get("points", ""))
        student.adjustments.append(Adjustment(points, visible(reason, 300)))
