"""A student of a class: what was handed in, and how it was graded.

Everything that is written about a class comes from its entries, a line of the gradebook each.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensormark.classroom.upload import Upload
from tensormark.files import encoded
from tensormark.intake import sources
from tensormark.intake.submission import Part, Submission
from tensormark.reports.model import ungraded
from tensormark.reports.text import points as points_text
from tensormark.result import UNIMPORTABLE as CANNOT_IMPORT
from tensormark.result import UNWRITTEN
from tensormark.viva.question import Sheet

# each entry is of one kind; PARTLY and COULD_NOT are the fault of the grader or its machine
GRADED = "graded"
UNIMPORTABLE = "cannot be imported"
EMPTY = "empty"
PARTLY = "graded in part"
COULD_NOT = "could not be graded"
UNREAD = "could not be read"
NOBODYS = "of somebody unknown"  # a file or folder, and no student
NOT_IN = "not handed in"
LEFT = "not graded yet"
KINDS = (GRADED, UNIMPORTABLE, EMPTY, UNREAD, NOBODYS, NOT_IN, PARTLY, COULD_NOT, LEFT)
TO_RETRY = (PARTLY, COULD_NOT)


def legible(name: str) -> str:
    r"""Return a name as text that can be encoded; a byte that is not UTF-8 becomes `\udce9`."""
    return encoded(name).decode()


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun, such as `1 student` or `2 students`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def label(student: str, name: str) -> str:
    """Return a student's id, followed by the name unless the id contains it."""
    return student if name in student else f"{student} ({name})"


def _unimportable(exercises: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield each file that cannot be imported, and why."""
    for exercise in exercises:
        for finding in exercise["findings"]:
            match = CANNOT_IMPORT.fullmatch(finding["headline"])
            if match:
                yield match[1], next(iter(finding["details"]), "")


@dataclass(frozen=True)
class Adjustment:
    """A change of a student's points, and why."""

    points: float
    reason: str

    def __str__(self) -> str:
        return f"adjusted by {points_text(self.points)}: {self.reason}"


@dataclass(eq=False)
class Entry:
    """A student, with what was handed in and how it was graded; equal to no other.

    Attributes:
        student: the student's identifier: an id or login where there is one, else a name.
        name: to display, as it was written; never trusted.
        row: the index of the student's row in the class list; None for anybody else.
        cells: the cells of the student's row, by the titles of their columns.
        ids: the student's ids in the list, by kind, such as "canvas" or "email".
        team: the team that the student hands in with; "" if the list has none.
        file: what was handed in, relative to the folder of the submissions; "" if the list does not
            say.
        uploads: everything that the student handed in.
        path: the file or folder to grade; None if there is nothing to read.
        parts: the files to read.
        others: what else the student handed in: older files and documents, which are not graded.
        submitted: when the graded files were handed in; None if that is not known.
        late: whether they were late; None if neither the platform nor their time tells.
        remarks: what staff should know about how they were found, one sentence each.
        submission: what to grade; None if there is nothing.
        problem: why there is no result, in one sentence; "" if there is one, or if nothing was
            handed in.
        result: the result model, see reports/result.schema.json.
        adjustments: the changes of the student's points, in order.
        unowned: whether this is a file that nobody gets, instead of a student.
        equal_to: other students whose files are equal apart from comments and layout.
        most: the highest points that are given, with 0 as the lowest; None: there is no limit.
        folder: the name of the folder of the student's feedback; "" if there is none.
        changed: whether the feedback differs from what an earlier run wrote.
        sheet: questions about the student's own code; sheet_note: why there are none, or fewer.
        flags: those of the result that most of the class do not have; see `counts.note_flags`.
    """

    student: str
    name: str
    row: int | None = None
    cells: Mapping[str, str] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    team: str = ""
    file: str = ""
    uploads: list[Upload] = field(default_factory=list)
    path: Path | None = None
    parts: Sequence[Part] = ()
    others: Sequence[Path] = ()
    submitted: datetime.datetime | None = None
    late: bool | None = None
    remarks: list[str] = field(default_factory=list)
    submission: Submission | None = None
    problem: str = ""
    result: Mapping[str, Any] | None = None
    adjustments: list[Adjustment] = field(default_factory=list)
    unowned: bool = False
    equal_to: Sequence[str] = ()
    most: float | None = None
    folder: str = ""
    changed: bool = False
    sheet: Sheet | None = None
    sheet_note: str = ""
    flags: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """See `label`."""
        return label(self.student, self.name)

    @property
    def kind(self) -> str:
        """The one of KINDS that the entry is counted under."""
        if self.result is not None:
            if ungraded(self.result):
                return PARTLY
            core = [each for each in self.exercises if not each["bonus"]]
            if any(_unimportable(core)):
                return UNIMPORTABLE
            return EMPTY if all(each["outcome"] in UNWRITTEN for each in core) else GRADED
        if self.submission is not None:
            return COULD_NOT if self.problem else LEFT
        if self.unowned:
            return NOBODYS
        if self.problem.endswith(sources.EMPTY):  # what the intake says of an empty file
            return EMPTY
        return UNREAD if self.problem else NOT_IN

    @property
    def is_for_student(self) -> bool:
        """Whether there is something to tell the student."""
        if self.result is not None:
            return True
        if self.submission is not None:  # it will be graded: the fault is the grader's
            return False
        return bool(self.path or self.adjustments)

    @property
    def exercises(self) -> Sequence[Mapping[str, Any]]:
        """The exercises of the result; none if there is no result."""
        return self.result["exercises"] if self.result else ()

    @property
    def score(self) -> float | None:
        """The score of the result, 0 for an empty file, or None."""
        if self.result is not None:
            return float(self.result["score"])
        return 0.0 if self.kind == EMPTY else None

    @property
    def total(self) -> float:
        """The score with all adjustments, without a limit."""
        return (self.score or 0.0) + sum(each.points for each in self.adjustments)

    @property
    def points(self) -> float | None:
        """What the student gets: the total within the limits; None while part of it is unknown.

        Without a score, the adjustments alone are the total.
        """
        unknown = self.kind in (PARTLY, COULD_NOT, LEFT)
        if unknown or (self.score is None and not self.adjustments):
            return None
        total = self.total
        return total if self.most is None else min(max(0.0, total), self.most)

    @property
    def is_limited(self) -> bool:
        """Whether a limit keeps the points from being the total."""
        return self.points is not None and self.points != self.total

    @property
    def steps(self) -> list[str]:
        """What leads from the score to the points, a sentence for each step."""
        steps = list(map(str, self.adjustments))
        if self.most is not None and self.is_limited:
            limits = f"between 0 and {points_text(self.most)}"
            steps.append(f"points stay {limits}, instead of {points_text(self.total)}")
        return steps

    @property
    def why_ungraded(self) -> str:
        """Why there is no score, or none for a part; "" if there is one for all."""
        if self.result is None:
            return self.problem or self.kind
        lacking = ungraded(self.result)
        return f"{', '.join(lacking)} could not be graded" if lacking else ""

    @property
    def notes(self) -> list[str]:
        """What staff should know about the submission and its points."""
        files = dict(_unimportable(self.exercises))
        notes = [f"{file} {UNIMPORTABLE}{why and f': {why}'}" for file, why in files.items()]
        notes += self.remarks
        if self.submission:
            notes += self.submission.notes
        if self.others:
            others = dict.fromkeys(path.name for path in self.others)
            notes.append(f"not graded: {', '.join(list(others)[:3])}")
        notes += self.steps
        return list(dict.fromkeys(notes))
