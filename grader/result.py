"""The five outcomes, and the results of exercises and submissions."""

import dataclasses
import enum
from typing import Any


class Outcome(enum.StrEnum):
    """The outcomes of an exercise, in the same words everywhere."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_WRITTEN = "not written yet"
    BLOCKED = "blocked"
    COULD_NOT_GRADE = "could not grade"


@dataclasses.dataclass(frozen=True)
class Finding:
    """What one check found wrong.

    Attributes:
        headline: a few words for the exercise's line, lower case.
        details: at most five further lines.
        mistake: the id of the mistake, if it was recognized.
    """

    headline: str
    details: tuple[str, ...] = ()
    mistake: str | None = None


class CheckFailed(Exception):
    """The student's code is wrong in a way that a check can show."""

    def __init__(self, finding: Finding) -> None:
        super().__init__("\n".join([finding.headline, *finding.details]))
        self.finding = finding


class NotWrittenYet(Exception):
    """The exercise's hole is not filled."""


class Blocked(Exception):
    """The exercise cannot be judged until others are written; the message lists them."""


@dataclasses.dataclass
class Result:
    """One exercise's outcome.

    Attributes:
        score: None if it could not be graded.
        findings: what is wrong, the most serious first.
        note: a few words for the exercise's line if nothing is wrong.
        bonus: whether its points are counted separately.
        lost: the parts of its points that it lost, if it failed.
        flags: what an instructor may want to know of how it was graded.
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

    @property
    def right_values(self) -> bool:
        """Whether its outputs are right, whatever else is wrong with it."""
        failed = self.outcome is Outcome.FAILED
        return self.outcome is Outcome.PASSED or (failed and "values" not in self.lost)

    def as_json(self) -> dict[str, Any]:
        """Return the result under the keys that other tools read."""
        lines = [line for found in self.findings for line in (found.headline, *found.details)]
        mistakes = [found.mistake for found in self.findings if found.mistake]
        return {
            "id": self.id,
            "outcome": str(self.outcome),
            "score": self.score,
            "max_score": self.max_score,
            "mistake": mistakes[0] if mistakes else None,
            "message": "\n".join(lines or ([self.note] if self.note else [])),
        }


@dataclasses.dataclass
class Grade:
    """A submission's results; exercises that could not be graded do not count."""

    submission: str
    tier: str
    results: list[Result]
    notes: list[str] = dataclasses.field(default_factory=list)
    flags: list[str] = dataclasses.field(default_factory=list)  # for the instructor

    @property
    def graded(self) -> list[Result]:
        """The results that count."""
        return [result for result in self.results if result.score is not None]

    def sums(self, bonus: bool = False) -> tuple[float, float]:
        """Return the points scored and the maximum: of the core, or of the bonus."""
        chosen = [result for result in self.graded if result.bonus is bonus]
        return sum(r.score or 0 for r in chosen), sum(r.max_score for r in chosen)

    @property
    def score(self) -> float:
        """Points scored."""
        return self.sums()[0]

    @property
    def max_score(self) -> float:
        """Maximum points."""
        return self.sums()[1]

    def as_json(self) -> dict[str, Any]:
        """Return the JSON result: scores, exercises, and how they were graded."""
        return {
            "submission": self.submission,
            "tier": self.tier,
            "score": self.score,
            "max_score": self.max_score,
            "bonus": self.sums(bonus=True)[0],
            "bonus_max_score": self.sums(bonus=True)[1],
            "exercises": [result.as_json() for result in self.results],
            "notes": self.notes,
            "flags": self.flags,
        }
