"""A student's line of the gradebook: what all reports of a class are drawn from."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensormark.classroom.marks import Marks
from tensormark.intake.submission import Part
from tensormark.reports.model import ungraded

SHOWN = 20  # students that are named in a line


def legible(name: str) -> str:
    r"""Return a name as text that can be written: a byte that is not UTF-8 becomes `\\udce9`."""
    return name.encode("utf-8", "backslashreplace").decode()


def number_of(count: int, noun: str) -> str:
    """Return how many there are of something, such as `1 student`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def first_of(names: Sequence[str]) -> str:
    """Return as many names as a person reads in a line, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def called(student: str, name: str) -> str:
    """Return what identifies a student, and the name where that does not tell it."""
    return student if not name or name in student else f"{student} ({name})"


@dataclass(frozen=True)
class HandIn:
    """What one student handed in, as far as names and dates tell.

    Attributes:
        student: what identifies the student: an id or login where there is one, else a name.
        name: to show to people, as it was written; never trusted.
        path: the file or folder to grade; None if a roster lists a student who handed in nothing,
            or if there is a fault.
        submitted: when, if that is known.
        minutes_late: after the deadline, 0 if in time; None if that is not known.
        others: what the student handed in besides, and is not graded: older, or too late.
        keys: what else identifies the student, such as a login or an email address.
        fault: why nothing of what was handed in can be graded; "" if something can, or nothing was.
        notes: what a person should know of how it was found, a sentence each.
        parts: what is read of it.
        known: whether it is certain who the student is; not if the list of the class does not have
            them, or if there is a fault because several people may be meant.
    """

    student: str
    name: str
    path: Path | None
    submitted: datetime.datetime | None = None
    minutes_late: int | None = None
    others: tuple[Path, ...] = ()
    keys: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fault: str = ""
    parts: tuple[Part, ...] = ()
    known: bool = True

    @property
    def called(self) -> str:
        """What identifies the student, and the name where that does not tell it."""
        return called(self.student, self.name)


@dataclass(frozen=True)
class Final:
    """What a student gets in the end; see ledger.py.

    Attributes:
        points: None while some of them are not known.
        how: how they came about, for staff, in one line.
        told: the same for the student, a line each; none if it is the score.
        written: what the student has for written questions, if there are any.
    """

    points: float | None
    how: str = ""
    told: tuple[str, ...] = ()
    written: Marks | None = None


@dataclass(frozen=True)
class Entry:
    """A hand-in, and how it was graded.

    Attributes:
        result: the result model, see reports/result.schema.json; None if nothing was graded.
        problem: why nothing was graded, in one sentence; "" if something was.
        previous: the result before this one, if they differ.
        seconds: that grading took; attempts: how often it was tried.
        sources: module name to text, of the files that students edit.
        final: what the student gets, if scores are changed or lateness costs points.
        viva: how many questions about their code were answered right, and of how many; None if none
            was answered.
    """

    hand_in: HandIn
    result: Mapping[str, Any] | None = None
    problem: str = ""
    previous: Mapping[str, Any] | None = None
    seconds: float = 0.0
    attempts: int = 1
    sources: Mapping[str, str] = field(default_factory=dict)
    final: Final | None = None
    viva: tuple[int, int] | None = None

    @property
    def answered(self) -> str:
        """How many of how many were right, as no spreadsheet takes it for a date."""
        return f"{self.viva[0]} of {self.viva[1]}" if self.viva else ""

    @property
    def exercises(self) -> Sequence[Mapping[str, Any]]:
        """The exercises of the result; none if there is no result."""
        return self.result["exercises"] if self.result else ()

    @property
    def written(self) -> Marks | None:
        """What the student has for written questions, if there are any."""
        return self.final.written if self.final else None

    @property
    def most(self) -> float | None:
        """The points that there are in all, but for bonus; None if nothing was graded."""
        if self.result is None:
            return None
        return float(self.result["max_score"]) + float(self.written.most if self.written else 0)

    @property
    def mark(self) -> float | None:
        """The number that goes to a platform; None if there is none, or part of it is lacking."""
        if self.final is not None:
            return self.final.points
        if self.result is None or ungraded(dict(self.result)):
            return None
        return float(self.result["score"])

    @property
    def without(self) -> str:
        """Why there is no such number."""
        return (
            self.problem or (self.final.how if self.final else "") or "could not be graded in full"
        )
