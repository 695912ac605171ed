"""A student's final points: the score, with staff's changes, written points and the late penalty.

Points of written questions are included once all of a student's are settled. Final points are
recomputed from the stored result and staff's files whenever a gradebook is written, without grading
anything, in exact decimals that are rounded once, half up, to hundredths. They are never below 0
but may exceed the maximum, which the run reports.
"""

import argparse
import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal

from tensormark.classroom.entry import Entry, Final, HandIn, first_of, number_of
from tensormark.classroom.marks import Marks
from tensormark.classroom.points.adjustments import Adjustment, read_adjustments
from tensormark.classroom.points.late import Rule, read_rule
from tensormark.classroom.points.written import Written, read_written
from tensormark.classroom.students.hand_ins import MARKED_LATE
from tensormark.exercise import Assignment
from tensormark.reports.model import ungraded
from tensormark.reports.text import shown, visible
from tensormark.usage import option

CENT = Decimal("0.01")
LONGEST = 450  # characters of a student's `how` in the gradebook; a cell has room for 500
UNKNOWN = "the time of the hand-in is unknown, so nothing is taken off for lateness"
WRITTEN = "written"  # the term for these points in a sum


def exact(score: float) -> Decimal:
    """Return points without floating-point noise."""
    return Decimal(f"{score:.6f}")


@dataclass(frozen=True)
class _Step:
    """Points that are added or taken off, and why; `who` is for staff."""

    points: Decimal
    what: str
    reason: str = ""
    who: str = ""

    def text(self, staff: bool = False) -> str:
        """Return the step as a term of a sum: `+ 5 (conv: regrade, AB)`."""
        why = ": ".join(filter(None, (self.what, self.reason)))
        why = ", ".join(filter(None, (why, self.who if staff else "")))
        sign = "-" if self.points.is_signed() else "+"
        return f"{sign} {shown(abs(self.points))}" + (f" ({why})" if why else "")


def _step(row: Adjustment, scores: Mapping[str, float | None]) -> _Step:
    points = row.points or Decimal(0)
    if not row.sets:
        return _Step(points, row.exercise, row.reason, row.who)
    change = points - exact(scores.get(row.exercise) or 0)
    return _Step(change, f"{row.exercise} set to {shown(points)}", row.reason, row.who)


def _total(steps: Sequence[_Step]) -> Decimal:
    return sum((step.points for step in steps), Decimal(0))


def _deadline(row: Adjustment, staff: bool = False) -> str:
    why = ", ".join(filter(None, (row.reason, row.who if staff else "")))
    return f"own deadline {row.deadline:%Y-%m-%d %H:%M}" + (f" ({why})" if why else "")


@dataclass(frozen=True)
class Ledger:
    """What is applied to a class's scores; `rows` holds each student's adjustments."""

    rule: Rule | None = None
    rows: Mapping[str, Sequence[Adjustment]] = field(default_factory=dict)
    written: Written | None = None

    @property
    def deadlines(self) -> dict[str, datetime.datetime]:
        """The deadlines of students who have their own."""
        return {
            student: row.deadline
            for student, rows in self.rows.items()
            for row in rows
            if row.deadline is not None
        }

    def _is_unknown(self, entry: Entry) -> bool:
        late = entry.hand_in.minutes_late
        return self.rule is not None and entry.result is not None and late is None

    def _late(self, entry: Entry, reached: Decimal, written: Decimal) -> list[_Step]:
        """Return the late penalty on the points reached, and on written ones if the rule has it."""
        minutes, maximum = entry.hand_in.minutes_late, exact(_maximum(entry))
        if self.rule is None or minutes is None:
            return []
        if self.written is None or self.rule.written:
            most = self.written.most if self.written else Decimal(0)
            cost, why = self.rule.penalty(minutes, reached + written, maximum + most)
        else:
            cost, why = self.rule.penalty(minutes, reached, maximum)
            if cost > (rest := max(reached, Decimal(0))):
                cost, why = rest, f"{why}, at most the points of the code"
        return [_Step(cost.copy_negate(), why)] if why else []

    def final(self, entry: Entry) -> Final:
        """Return a student's final points; None for the points while some are unknown."""
        marks = self.written.marks(entry.hand_in.student) if self.written else None
        return replace(self._computed(entry, marks), written=marks)

    def _computed(self, entry: Entry, marks: Marks | None) -> Final:
        rows = self.rows.get(entry.hand_in.student, ())
        override = next((row for row in rows if row.sets and not row.exercise), None)
        changes = [row for row in rows if row.points is not None and row is not override]
        scores = {exercise["id"]: exercise["score"] for exercise in entry.exercises}
        given = {row.exercise for row in rows if row.sets}
        if override is not None:
            start = _Step(override.points or Decimal(0), "set", override.reason, override.who)
        elif entry.result and given.issuperset(ungraded(entry.result)):
            start = _Step(exact(entry.result["score"]), "")
        else:
            return Final(None)
        if override is None and marks is not None and marks.points is None:
            return Final(None, f"written: {marks.lacking}")
        steps = [_step(row, scores) for row in changes]
        if override is None:
            written = marks.points if marks and marks.points is not None else Decimal(0)
            late = self._late(entry, start.points + _total(steps), written)
            steps += [*([_Step(written, WRITTEN)] if marks else []), *late]
        end = max(start.points + _total(steps), Decimal(0)).quantize(CENT, ROUND_HALF_UP)
        own = [row for row in rows if row.deadline is not None]
        return _final(start, steps, end, own, override is None and self._is_unknown(entry))

    def applied(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return entries with final points."""
        return [replace(entry, final=self.final(entry)) for entry in entries]

    def lines(self, entries: Sequence[Entry]) -> list[str]:
        """Return lines for staff about entries with final points."""
        students: dict[str, list[str]] = {}
        for entry in entries:
            for remark in self._remarks(entry, entry.final) if entry.final else ():
                students.setdefault(remark, []).append(visible(entry.hand_in.called, 60))
        hand_ins = [entry.hand_in for entry in entries]
        lines = list(self.written.lines(hand_ins)) if self.written else []
        lines += [
            f"final: {remark.format(number_of(len(names), 'student'))}: {first_of(names)}"
            for remark, names in students.items()
        ]
        return lines + _marked_late(entries)

    def _remarks(self, entry: Entry, final: Final) -> Iterator[str]:
        rows = self.rows.get(entry.hand_in.student, ())
        marks = final.written
        if final.how.startswith(f"{WRITTEN}: "):
            yield "none for {}, as their written answers are unsettled"
        elif final.points is None and any(row.points is not None for row in rows):
            yield "{} with changes, but without a complete score to change"
        elif final.points is None and marks and marks.begun:
            yield "{} with written points, but without a complete score"
        most = _maximum(entry) + float(marks.most if marks else 0)
        if entry.result and (final.points or 0) > most:
            yield "{} above the maximum"
        if final.how.endswith(UNKNOWN):
            yield f"for {{}} {UNKNOWN}"


def _marked_late(entries: Sequence[Entry]) -> list[str]:
    """Return a line about students whom Canvas marks late but who could not be penalized."""
    names = [
        visible(entry.hand_in.called, 60)
        for entry in entries
        if entry.final and entry.final.how.endswith(UNKNOWN) and MARKED_LATE in entry.hand_in.notes
    ]
    fix = f"for {option('rule')}, give {option('roster')} with everybody's `submitted` time"
    count = number_of(len(names), "hand-in")
    line = f"Canvas marks {count} LATE without saying by how much; {fix}: {first_of(names)}"
    return [line] if names else []


def _maximum(entry: Entry) -> float:
    """Return the points of all exercises except bonus, including those that only staff grade."""
    return float(sum(each["max_score"] for each in entry.exercises if not each["bonus"]))


def _final(
    start: _Step,
    steps: Sequence[_Step],
    end: Decimal,
    deadlines: Sequence[Adjustment],
    unknown: bool,
) -> Final:
    """Return final points with how they were computed; for staff, on one line that fits a cell."""
    first = start.text(staff=True)[2:]  # without its sign
    parts = [step.text(staff=True) for step in steps]
    notes = [_deadline(row, staff=True) for row in deadlines] + [UNKNOWN] * unknown
    if sum(map(len, (first, *parts, *notes))) > LONGEST:
        parts = [_Step(_total(steps), number_of(len(steps), "change")).text()]
    changed = [" ".join([first, *parts, "=", shown(end)])] if steps or start.what else []
    score = replace(start, what=start.what or "score").text()[2:]
    lines = [*(step.text() for step in steps), *map(_deadline, deadlines)]
    lines = [score, *lines] if lines or start.what else []
    return Final(float(end), "; ".join([*changed, *notes]), tuple(lines))


def read_ledger(
    options: argparse.Namespace, hand_ins: Sequence[HandIn], assignment: Assignment
) -> Ledger | None:
    """Read the files of adjustments, late rule and written marks; None if none is given.

    Raises:
        FileError: a file cannot be used.
    """
    rule = read_rule(options.rule) if options.rule else None
    written = read_written(options.written, hand_ins, assignment) if options.written else None
    rows: dict[str, list[Adjustment]] = {}
    if options.adjustments:
        most = written.most if written else Decimal(0)
        about = hand_ins, assignment, options.check, options.deadline, most
        for row in read_adjustments(options.adjustments, *about):
            rows.setdefault(row.student, []).append(row)
    return Ledger(rule, rows, written) if rule or written or options.adjustments else None
