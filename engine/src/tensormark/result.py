"""The five outcomes, and the results of exercises and submissions.

`Grade.as_json` is the result model: reports are made from it alone, and it is written as JSON.
tensormark/reports/result.schema.json describes it.
"""

import dataclasses
import enum
import re
from collections.abc import Collection, Mapping
from typing import Any, Self

from tensormark.exercise import Exercise

VERSION = 2  # of the result model; keys may be added without changing it
FORBIDDEN = "forbidden"  # the id of the mistake to call what is forbidden
UNIMPORTABLE = re.compile(r"(\w+\.py) cannot be imported")  # a finding's headline, all of it


class Outcome(enum.StrEnum):
    """The outcomes of an exercise, in the same words everywhere."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_WRITTEN = "not written yet"
    BLOCKED = "blocked"
    COULD_NOT_GRADE = "could not grade"


UNWRITTEN = (Outcome.NOT_WRITTEN, Outcome.BLOCKED)


@dataclasses.dataclass(frozen=True)
class Finding:
    """A fault that one check found.

    Attributes:
        headline: a few words for the exercise's line, lower case.
        details: at most five further lines.
        mistake: the id of the mistake, if it was recognized.
        excerpt: where an output is wrong, as JSON; see judging/excerpt.py. None if it is private.
        place: the line where that begins, as JSON; see judging/place.py. None if it is not known.
        call: the number of the exercise's call that failed, if one was made.
    """

    headline: str
    details: tuple[str, ...] = ()
    mistake: str | None = None
    excerpt: Mapping[str, Any] | None = None
    place: Mapping[str, Any] | None = None
    call: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the finding under the keys of the result model."""
        model = vars(self) | {"details": list(self.details)}
        del model["call"]
        return model


def lines_of(place: Mapping[str, Any] | None, file: str = "") -> list[str]:
    """Return the lines that say where a failure begins; none if that is not known.

    Args:
        file: how to write the file's name; empty: as in the place.
    """
    if place is None:
        return []
    return [f"{file or place['file']}:{place['line']}: {place['text']}", f"  {place['says']}"]


class CheckFailed(Exception):
    """The student's code is wrong in a way that a check can show."""

    def __init__(self, finding: Finding) -> None:
        super().__init__("\n".join([finding.headline, *finding.details]))
        self.finding = finding


@dataclasses.dataclass
class Result:
    """One exercise's outcome.

    Attributes:
        score: None if it could not be graded.
        findings: what is wrong, the most serious first.
        note: a few words for the exercise's line if nothing is wrong.
        bonus: whether its points are counted separately.
        lost: the parts of its points that it lost, if it failed.
        flags: what an instructor may want to know about how it was graded.
        title, file: the exercise's; task: whether it is a task.
        handout: sections that explain it: titles, pages, and the anchors of their headings.
        measured: what a task has measured, as JSON; see `TaskRun`.
    """

    id: str
    outcome: Outcome
    score: float | None
    max_score: float
    findings: tuple[Finding, ...] = ()
    note: str = ""
    bonus: bool = False
    lost: frozenset[str] = frozenset()
    flags: tuple[str, ...] = ()
    title: str = ""
    file: str = ""
    task: bool = False
    handout: tuple[tuple[str, str, str], ...] = ()
    measured: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls, exercise: Exercise, outcome: Outcome, score: float | None = 0.0, **more: Any
    ) -> Self:
        """Return the result of an exercise, with further fields."""
        return cls(
            exercise.id,
            outcome,
            score,
            exercise.max_score,
            bonus=exercise.extension,
            title=exercise.title,
            file=exercise.file,
            task=exercise.task is not None,
            **more,
        )

    @property
    def right_values(self) -> bool:
        """Whether its outputs are right, whatever else is wrong with it."""
        failed = self.outcome is Outcome.FAILED
        return self.outcome is Outcome.PASSED or (failed and "values" not in self.lost)

    def as_json(self) -> dict[str, Any]:
        """Return the result under the keys of the result model."""
        lines: list[str] = []
        for each in self.findings:
            lines += [each.headline, *lines_of(each.place), *each.details]
        places = [finding.place for finding in self.findings if finding.place is not None]
        mistakes = [finding.mistake for finding in self.findings if finding.mistake]
        model = {
            **vars(self),
            "outcome": str(self.outcome),
            "mistake": mistakes[0] if mistakes else None,
            "file": places[0]["file"] if places else self.file,
            "line": places[0]["line"] if places else None,
            "message": "\n".join(lines) or self.note,
            "findings": [finding.as_json() for finding in self.findings],
            "handout": [
                dict(zip(("title", "page", "anchor"), s, strict=True)) for s in self.handout
            ],
            "flags": list(self.flags),
        }
        del model["lost"]
        return model


@dataclasses.dataclass
class Grade:
    """A submission's results; exercises that could not be graded do not count.

    Attributes:
        submission: its path, as it was given; name: the last part of it, printable.
        notes: for readers of the report; flags: for the instructor.
        assignment: its name.
        mode: check, or grade if tasks were graded too.
        only: the requested exercises, or None for all.
        private: whether the references are private; references: the digest of their manifest.
        time: when it began, in ISO 8601, and how long it took.
        versions: of Python and packages, if they were looked up.
        printed: what the submission printed, as far as it may be shown.
    """

    submission: str
    tier: str
    results: list[Result]
    notes: list[str] = dataclasses.field(default_factory=list)
    flags: list[str] = dataclasses.field(default_factory=list)
    name: str = ""
    assignment: str = ""
    mode: str = "grade"
    only: list[str] | None = None
    private: bool = False
    references: str = ""
    time: Mapping[str, Any] = dataclasses.field(
        default_factory=lambda: {"started": "", "seconds": 0.0}
    )
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    printed: str = ""

    def sums(self, bonus: bool = False) -> tuple[float, float]:
        """Return the points scored and the maximum: of the core, or of the bonus."""
        graded = [result for result in self.results if result.score is not None]
        chosen = [result for result in graded if result.bonus is bonus]
        return sum(r.score or 0 for r in chosen), sum(r.max_score for r in chosen)

    def as_json(self) -> dict[str, Any]:
        """Return the result model: scores, exercises, and how they were graded."""
        score, max_score = self.sums()
        bonus, bonus_max_score = self.sums(bonus=True)
        model = {
            "version": VERSION,
            "assignment": self.assignment,  # first, as grade.py knows our files by it
            **vars(self),
            "score": score,
            "max_score": max_score,
            "bonus": bonus,
            "bonus_max_score": bonus_max_score,
            "exercises": [result.as_json() for result in self.results],
        }
        del model["results"]
        return model


class Observer:
    """Is notified of the progress of a grading; this one does nothing, unlike those of reports/."""

    def begin(self, assignment: str, submission: str, tier: str, shown: Collection[str]) -> None:
        """Take note of what is graded, and of the ids of the exercises to report on."""

    def progress(self, what: str, done: int, total: int) -> None:
        """Handle the progress of a task, steps done of a total; called during each call, with 0."""

    def result(self, result: Result) -> None:
        """Handle an exercise's result."""

    def end(self, grade: Grade) -> None:
        """Take note of the grade."""
