"""adjustments.csv: points that staff add or take away, if it lies in OUT.

Its columns are student, points and reason, such as `ada,-5,two days late`. It is never written.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tensormark.classroom.hand_in import HandIn
from tensormark.classroom.people import FileError, read_table
from tensormark.reports.platforms import cell
from tensormark.reports.text import visible

FILE = "adjustments.csv"
MOST = 1_000_000  # points
COLUMNS = ("student", "points", "reason")


@dataclass(frozen=True)
class Adjustment:
    """A change of a student's points, and why."""

    points: float
    reason: str


def student_named(text: str, hand_ins: Sequence[HandIn]) -> int | None:
    """Return the place of the student whom staff mean: as in the gradebook, or by name.

    In the gradebook no cell is a formula, so that an id may have an apostrophe before it.
    """
    by_id = [
        place
        for place, each in enumerate(hand_ins)
        if text in (each.student, str(cell(each.student)))
    ]
    by_name = [place for place, each in enumerate(hand_ins) if each.name == text]
    found = by_id or by_name
    return found[0] if len(found) == 1 else None


def read(path: Path, hand_ins: Sequence[HandIn]) -> dict[int, list[Adjustment]]:
    """Return the adjustments of each student, by place; none if there is no such file.

    Raises:
        FileError: it cannot be read, or a row does not say what to do.
    """
    if not os.path.lexists(path):
        return {}
    rows, _ = read_table(path)
    titles = [title.strip().casefold() for title in rows[0]] if rows else []
    missing = [title for title in COLUMNS if title not in titles]
    if missing:
        raise FileError(f"{path}: its first line has no column {missing[0]}; {', '.join(COLUMNS)}")
    places = [titles.index(title) for title in COLUMNS]
    found: dict[int, list[Adjustment]] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not any(map(str.strip, row)):
            continue
        cells = [row[place].strip() if place < len(row) else "" for place in places]
        where = f"{path}, row {number}"
        if any(map(str.strip, row[len(titles) :])):
            fix = "put a text with a comma into double quotes"
            raise FileError(f"{where}: has more cells than the first line; {fix}")
        student = student_named(cells[0], hand_ins)
        if student is None:
            fix = "take a name from the student column of gradebook.csv, or delete the row"
            raise FileError(f"{where}: no one student is {visible(cells[0], 60)!r}; {fix}")
        try:
            points = float(cells[1].lstrip("'").replace(",", "."))
        except ValueError:
            points = float("nan")
        if not abs(points) <= MOST:
            raise FileError(f"{where}: {visible(cells[1], 60)!r} is not a number of points")
        if not cells[2]:
            raise FileError(f"{where}: gives no reason, which the student reads")
        found.setdefault(student, []).append(Adjustment(points, visible(cells[2], 300)))
    return found
