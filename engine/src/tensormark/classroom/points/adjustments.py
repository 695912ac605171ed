"""Changes that staff make for individual students, read from a CSV file with one change per row.

    student,exercise,points,deadline,reason,who
    ada,conv,+5,,regrade,AB
    grace,,,2027-03-04T18:00,illness,AB

Points are a change, with or without a plus, or a new value such as `to 20`; not `=20`, because a
spreadsheet saves that as 20. Without an exercise, or with `total`, they apply to the total. Rows
add up.
"""

import datetime
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from tensormark.classroom.entry import HandIn
from tensormark.classroom.failure import FileError
from tensormark.classroom.students.choice import deadline_of
from tensormark.classroom.students.names import Names
from tensormark.classroom.typed import lines_of, plain
from tensormark.exercise import Assignment
from tensormark.reports.text import shown, visible

COLUMNS = ("student", "exercise", "points", "deadline", "reason", "who")
MAX_ROWS = 10_000
TOTAL = "total"
POINTS = re.compile(r"(to +)?([+-]?[0-9]{1,6}(?:\.[0-9]{1,4})?)", re.ASCII | re.IGNORECASE)
MAX_EXTENSION = datetime.timedelta(days=366)  # more is a mistyped year


@dataclass(frozen=True)
class Adjustment:
    """One row, with its free text made printable.

    Attributes:
        student: the id used in the gradebook, once the row is checked.
        exercise: its id, or "" for the total.
        points: a change, or the new value if `sets` is true; None if the row has a deadline.
    """

    student: str
    exercise: str
    points: Decimal | None
    sets: bool
    deadline: datetime.datetime | None
    reason: str
    who: str


def _header(path: Path, cells: Sequence[str]) -> list[str]:
    names = [cell.casefold() for cell in cells]
    for name, count in Counter(names).items():
        if name not in COLUMNS or count > 1:
            fault = "appears twice" if count > 1 else "is not a column"
            columns = ",".join(COLUMNS)
            raise FileError(f"{path}: {visible(name, 40)!r} {fault}; the columns are {columns}")
    if "student" not in names or not {"points", "deadline"} & set(names):
        raise FileError(f"{path}: its first line must be {','.join(COLUMNS)}")
    return names


def _adjustment(where: str, cells: Mapping[str, str]) -> Adjustment:
    points, deadline = cells.get("points", ""), cells.get("deadline", "")
    exercise = cells.get("exercise", "")
    exercise = "" if exercise.casefold() == TOTAL else exercise
    if points and deadline:
        raise FileError(f"{where}: has both points and a deadline; use a row for each")
    if not points and not deadline:
        raise FileError(f"{where}: has neither points nor a deadline; give one of them")
    if deadline and exercise:
        raise FileError(f"{where}: a deadline applies to all exercises; leave the exercise empty")
    match = POINTS.fullmatch(points)
    if points and match is None:
        fix = "write 2 or -1.5 for a change, or `to 20` for a new value"
        raise FileError(f"{where}: {visible(points, 40)!r} is not a number of points; {fix}")
    try:
        until = deadline_of(deadline) if deadline else None
    except (ValueError, OverflowError, OSError):
        given = visible(deadline, 40)
        raise FileError(f"{where}: {given!r} must be like 2027-03-01T18:00") from None
    return Adjustment(
        student=cells.get("student", ""),
        exercise=exercise,
        points=Decimal(match[2]) if match else None,
        sets=bool(match and match[1]),
        deadline=until,
        reason=plain(cells.get("reason", ""), 120),
        who=plain(cells.get("who", ""), 40),
    )


def _read(path: Path) -> list[tuple[str, Adjustment]]:
    lines = lines_of(path)
    names = _header(path, next(lines, ("", []))[1])
    rows: list[tuple[str, Adjustment]] = []
    for where, cells in lines:
        if len(cells) > len(names):
            raise FileError(
                f"{where}: has more cells than the first line; quote any text with commas"
            )
        if len(rows) == MAX_ROWS:
            raise FileError(f"{where}: is beyond the limit of {MAX_ROWS} rows; give another file")
        rows.append((where, _adjustment(where, dict(zip(names, cells, strict=False)))))
    return rows


class _Class:
    """The exercises, their points and the deadline, against which rows are checked."""

    def __init__(
        self,
        assignment: Assignment,
        check: bool,
        deadline: datetime.datetime | None,
        written: Decimal,
    ) -> None:
        self.deadline = deadline
        self.bonus = {exercise.id for exercise in assignment.exercises if exercise.extension}
        self.most = {
            exercise.id: Decimal(str(exercise.max_score))
            for exercise in assignment.exercises
            if not exercise.extension and not (check and exercise.task)
        }
        self.most[""] = sum(self.most.values(), written)

    def check(self, where: str, row: Adjustment) -> None:
        """Check that a row makes sense for this class.

        Raises:
            FileError: it does not.
        """
        if row.exercise in self.bonus:
            fix = "is a bonus exercise, outside the score; leave the exercise empty"
            raise FileError(f"{where}: {row.exercise} {fix}")
        if row.exercise not in self.most:
            name, ids = visible(row.exercise, 40), ", ".join(filter(None, self.most))
            raise FileError(f"{where}: there is no exercise {name!r} here; choose from {ids}")
        if row.points is not None:
            most = self.most[row.exercise]
            if not (0 if row.sets else -most) <= row.points <= most:
                target = row.exercise or "the total"
                limit = f"{target} has {shown(most)} points"
                raise FileError(f"{where}: {shown(row.points)} is out of range; {limit}")
        if row.deadline is not None and self.deadline is not None:
            extension = row.deadline.astimezone() - self.deadline.astimezone()
            if not datetime.timedelta(0) <= extension <= MAX_EXTENSION:
                raise FileError(
                    f"{where}: is before the class's deadline or over a year after it; "
                    "correct the date"
                )


def _check_once(rows: Sequence[tuple[str, Adjustment]]) -> None:
    """Check that no row is repeated, and that no row which sets a value overrides another.

    Raises:
        FileError: two rows conflict.
    """
    first: dict[Adjustment, str] = {}
    setters: dict[tuple[str, str, bool], str] = {}
    for where, row in rows:
        if (other := first.setdefault(row, where)) != where:
            fix = "remove one of them, or give them different reasons"
            raise FileError(f"{where}: is the same as {other.rpartition(', ')[2]}; {fix}")
        if row.sets or row.deadline is not None:
            other = setters.setdefault((row.student, row.exercise, row.sets), where)
            if other != where:
                target = row.exercise or ("the total" if row.sets else "the deadline")
                line = other.rpartition(", ")[2]
                raise FileError(f"{where}: sets {target} again, after {line}; keep one of them")
    for where, row in rows:
        if row.exercise and (row.student, "", True) in setters:
            line = setters[row.student, "", True].rpartition(", ")[2]
            why = f"{line} sets the total, regardless of the exercises"
            raise FileError(f"{where}: would have no effect, because {why}; remove one of them")


def read_adjustments(
    path: Path,
    hand_ins: Sequence[HandIn],
    assignment: Assignment,
    check: bool = False,
    deadline: datetime.datetime | None = None,
    written: Decimal = Decimal(0),
) -> list[Adjustment]:
    """Read the adjustments of a class, and check each one.

    Args:
        check: whether tasks are left out.
        deadline: the class's.
        written: the points of the written questions, which are part of the total.

    Raises:
        FileError: the file cannot be read, or a row is invalid.
    """
    checks, names = _Class(assignment, check, deadline, written), Names(hand_ins)
    rows = []
    for where, raw_row in _read(path):
        row = replace(raw_row, student=names.student(where, raw_row.student))
        checks.check(where, row)
        rows.append((where, row))
    _check_once(rows)
    return [row for _, row in rows]
