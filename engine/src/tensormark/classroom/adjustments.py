"""What an instructor decides for single students, read from a CSV file, a row each.

    student,exercise,points,deadline,reason,who
    ada,conv,+5,,regrade,AB
    grace,,,2027-03-04T18:00,illness,AB

Points are a change, with or without a plus, or a value such as `to 20`. There is no `=20`, which a
spreadsheet saves as 20. Without an exercise, or with `total`, they are of the total. Rows add up.
"""

import datetime
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from tensormark.classroom.choice import deadline_of
from tensormark.classroom.entry import HandIn
from tensormark.classroom.failure import LedgerError
from tensormark.classroom.names import Names
from tensormark.classroom.typed import lines_of, plain
from tensormark.exercise import Assignment
from tensormark.reports.text import shown, visible

COLUMNS = ("student", "exercise", "points", "deadline", "reason", "who")
MOST = 10_000  # rows
TOTAL = "total"
POINTS = re.compile(r"(to +)?([+-]?[0-9]{1,6}(?:\.[0-9]{1,4})?)", re.ASCII | re.IGNORECASE)
EXTENDED = datetime.timedelta(days=366)  # at most; more is a mistyped year


@dataclass(frozen=True)
class Adjustment:
    """A row; what people have written in it is printable.

    Attributes:
        student: as in the gradebook, once the row is checked.
        exercise: its id, or "" for the total.
        points: a change, or if `sets` the new value; None if the row has a deadline.
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
            what = f"{visible(name, 40)!r} {'is there twice' if count > 1 else 'is no column'}"
            raise LedgerError(f"{path}: {what}; the first line is {','.join(COLUMNS)}")
    if "student" not in names or not {"points", "deadline"} & set(names):
        raise LedgerError(f"{path}: its first line must be {','.join(COLUMNS)}")
    return names


def _adjustment(where: str, cells: Mapping[str, str]) -> Adjustment:
    points, deadline = cells.get("points", ""), cells.get("deadline", "")
    exercise = cells.get("exercise", "")
    exercise = "" if exercise.casefold() == TOTAL else exercise
    if points and deadline:
        raise LedgerError(f"{where}: has points and a deadline; take a row for each")
    if not points and not deadline:
        raise LedgerError(f"{where}: has neither points nor a deadline; give one of them")
    if deadline and exercise:
        raise LedgerError(f"{where}: a deadline is for everything; leave the exercise empty")
    match = POINTS.fullmatch(points)
    if points and match is None:
        fix = "write 2 or -1.5 for a change, or `to 20`"
        raise LedgerError(f"{where}: {visible(points, 40)!r} is not points; {fix}")
    try:
        until = deadline_of(deadline) if deadline else None
    except (ValueError, OverflowError, OSError):
        given = visible(deadline, 40)
        raise LedgerError(f"{where}: {given!r} must be like 2027-03-01T18:00") from None
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
            raise LedgerError(
                f"{where}: has more cells than the first line; quote a text with commas"
            )
        if len(rows) == MOST:
            raise LedgerError(f"{where}: is beyond {MOST} rows; name another file")
        rows.append((where, _adjustment(where, dict(zip(names, cells, strict=False)))))
    return rows


class _Class:
    """What rows are checked against: the exercises, their points and the deadline."""

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
        """See that a row can be meant.

        Raises:
            LedgerError: it cannot.
        """
        if row.exercise in self.bonus:
            fix = "is bonus, which is not in the score; leave the exercise empty"
            raise LedgerError(f"{where}: {row.exercise} {fix}")
        if row.exercise not in self.most:
            what, ids = visible(row.exercise, 40), ", ".join(filter(None, self.most))
            raise LedgerError(f"{where}: there is no exercise {what!r} here; take one of {ids}")
        if row.points is not None:
            most = self.most[row.exercise]
            if not (0 if row.sets else -most) <= row.points <= most:
                what = row.exercise or "the total"
                raise LedgerError(
                    f"{where}: {shown(row.points)} is out of range; {what} has {shown(most)} points"
                )
        if row.deadline is not None and self.deadline is not None:
            later = row.deadline.astimezone() - self.deadline.astimezone()
            if not datetime.timedelta(0) <= later <= EXTENDED:
                raise LedgerError(
                    f"{where}: is before the deadline of the class or over a year after it; "
                    "correct the date"
                )


def _check_once(rows: Sequence[tuple[str, Adjustment]]) -> None:
    """See that no row is there twice, and that nothing which is set makes another row void.

    Raises:
        LedgerError: it is so.
    """
    first: dict[Adjustment, str] = {}
    seen: dict[tuple[str, str, bool], str] = {}
    for where, row in rows:
        if (other := first.setdefault(row, where)) != where:
            fix = "take one of them out, or give each a reason of its own"
            raise LedgerError(f"{where}: is the same as {other.rpartition(', ')[2]}; {fix}")
        if row.sets or row.deadline is not None:
            other = seen.setdefault((row.student, row.exercise, row.sets), where)
            if other != where:
                what = row.exercise or ("the total" if row.sets else "the deadline")
                line = other.rpartition(", ")[2]
                raise LedgerError(f"{where}: sets {what} again, after {line}; keep one of them")
    for where, row in rows:
        if row.exercise and (row.student, "", True) in seen:
            line = seen[row.student, "", True].rpartition(", ")[2]
            fix = f"{line} sets the total, whatever the exercises have; take one of them out"
            raise LedgerError(f"{where}: would not count, as {fix}")


def read_adjustments(
    path: Path,
    hand_ins: Sequence[HandIn],
    assignment: Assignment,
    check: bool = False,
    deadline: datetime.datetime | None = None,
    written: Decimal = Decimal(0),
) -> list[Adjustment]:
    """Read the file, and find the students of a class in it.

    Args:
        check: whether tasks are left out.
        deadline: that of the class.
        written: points of written questions, which are part of the total.

    Raises:
        LedgerError: the file cannot be read, or a row of it cannot be meant.
    """
    known, names = _Class(assignment, check, deadline, written), Names(hand_ins)
    rows = []
    for where, read in _read(path):
        row = replace(read, student=names.student(where, read.student))
        known.check(where, row)
        rows.append((where, row))
    _check_once(rows)
    return [row for _, row in rows]
