"""A student's line of the gradebook, from which all reports of a class are made."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensormark.classroom.marks import Marks
from tensormark.files import encoded
from tensormark.intake.submission import Part
from tensormark.reports.model import ungraded

SHOWN = 20  # students named in one line at most


def legible(name: str) -> str:
    r"""Return a name as text that can be encoded: a byte that is not UTF-8 becomes `\\udce9`."""
    return encoded(name).decode()


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun, such as `1 student` or `2 students`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def first_of(names: Sequence[str]) -> str:
    """Return the first SHOWN names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def called(student: str, name: str) -> str:
    """Return a student's id, followed by the name unless the id contains it."""
    return student if not name or name in student else f"{student} ({name})"


@dataclass(frozen=True)
class HandIn:
    """What one student handed in, judging by names and dates.

    Attributes:
        student: the student's identifier: an id or login where there is one, else a name.
        name: the name to display, as it was written; never trusted.
        path: the file or folder to grade; None if a roster lists a student who handed in nothing,
            or if there is a fault.
        submitted: when it was handed in, if known.
        minutes_late: minutes after the deadline, 0 if in time; None if unknown.
        others: what else the student handed in, older or too late, which is not graded.
        keys: other identifiers of the student, such as a login or an email address.
        fault: why nothing that was handed in can be graded; "" if something can, or nothing was.
        notes: what staff should know about how it was found, one sentence each.
        parts: the files to read from it.
        known: whether the student's identity is certain: not if they are not on the class list, or
            if there is a fault because several people may be meant.
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
        """The student's id, followed by the name unless the id contains it."""
        return called(self.student, self.name)


@dataclass(frozen=True)
class Final:
    """What a student gets in the end; see points/ledger.py.

    Attributes:
        points: None while some of them are unknown.
        how: how they were computed, for staff, in one line.
        steps: the same for the student, one line per step; none if they equal the score.
        written: the student's marks for written questions, if there are any.
    """

    points: float | None
    how: str = ""
    steps: tuple[str, ...] = ()
    written: Marks | None = None


@dataclass(frozen=True)
class Entry:
    """A hand-in and its grading.

    Attributes:
        result: the result model, see reports/result.schema.json; None if nothing was graded.
        problem: why nothing was graded, in one sentence; "" if something was.
        previous: the result before this one, if they differ.
        seconds: how long grading took; attempts: how often it was tried.
        sources: module name to text, of the files that students edit.
        final: what the student gets in the end, if there is a ledger.
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
        """The viva result as `3 of 4`, which no spreadsheet takes for a date."""
        return f"{self.viva[0]} of {self.viva[1]}" if self.viva else ""

    @property
    def exercises(self) -> Sequence[Mapping[str, Any]]:
        """The exercises of the result; none if there is no result."""
        return self.result["exercises"] if self.result else ()

    @property
    def written(self) -> Marks | None:
        """The student's marks for written questions, if there are any."""
        return self.final.written if self.final else None

    @property
    def most(self) -> float | None:
        """The maximum points, without bonus; None if nothing was graded."""
        if self.result is None:
            return None
        return float(self.result["max_score"]) + float(self.written.most if self.written else 0)

    @property
    def mark(self) -> float | None:
        """The number sent to a platform; None if there is none, or it is incomplete."""
        if self.final is not None:
            return self.final.points
        if self.result is None or ungraded(self.result):
            return None
        return float(self.result["score"])

    @property
    def without(self) -> str:
        """Why there is no mark."""
        return (
            self.problem or (self.final.how if self.final else "") or "could not be graded in full"
        )
