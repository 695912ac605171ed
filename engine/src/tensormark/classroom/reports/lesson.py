"""What a class is shown about itself, in the project's own words and code."""

import dataclasses
import datetime
import difflib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from tensormark.authoring.course import Course, open_course
from tensormark.authoring.variants import VariantError
from tensormark.classroom.entry import Entry, legible
from tensormark.classroom.reports.anonymous import Bar, Mistake, Term
from tensormark.exercise import Assignment, Exercise
from tensormark.judging.general import WORDS
from tensormark.judging.raised import FORBIDDEN

LINES = 5  # of wrong code, and of right code, in an example at most
NOT_ALLOWED = {FORBIDDEN: "the code calls something that is not allowed in this assignment"}
HOURS = {  # upper limits of the hours from the hand-in to the deadline
    0: "after the deadline",
    1: "in the last hour",
    6: "1 to 6 hours before",
    24: "6 to 24 hours before",
    72: "1 to 3 days before",
    math.inf: "more than 3 days before",
}
TIMES = {1: "once", 2: "twice", 3: "three times", math.inf: "more often"}
BEFORE = "When students handed in the graded version, where the time is known"
OFTEN = "How often students handed in, counting the versions that the grader saw"


def _bars(values: Mapping[int, float], labels: Mapping[float, str]) -> list[Bar]:
    """Return bars of students, each under the label of the lowest limit not below their value."""
    places: dict[str, set[int]] = {label: set() for label in labels.values()}
    for place, value in values.items():
        places[next(label for limit, label in labels.items() if value <= limit)].add(place)
    return [Bar(label, frozenset(group)) for label, group in places.items()]


def _handing_in(
    term: Term,
    entries: Sequence[Entry],
    deadline: datetime.datetime | None,
    versions: Mapping[str, int],
) -> dict[str, list[Bar]]:
    """Return when and how often a class handed in, as far as known: bars by their caption.

    Args:
        entries: those with a result, in the order of the term.
        versions: see `lesson_of`.
    """
    hours, counts = {}, {}
    for place, entry in enumerate(entries):
        counts[place] = versions.get(legible(entry.hand_in.student), 1)
        if deadline and (submitted := entry.hand_in.submitted):
            hours[place] = (deadline - submitted.astimezone()).total_seconds() / 3600
    repeated = [place for place, count in counts.items() if count > 1]
    figures = {
        BEFORE: _bars(hours, HOURS) if term.suffices(hours) else [],
        OFTEN: _bars(counts, TIMES) if term.counted and term.countable(repeated) else [],
    }
    return {caption: term.folded(bars) for caption, bars in figures.items() if bars}


@dataclasses.dataclass(frozen=True)
class Lesson:
    """The contents of the page for a class.

    Attributes:
        recorded: the manifest's entries for exercises, with descriptions of their mistakes.
        last: the class of the previous term, if there is one to compare with.
        more: bars of the whole class, by their caption.
    """

    course: Course
    recorded: Mapping[str, Any]
    term: Term
    last: Term | None = None
    more: Mapping[str, Sequence[Bar]] = dataclasses.field(default_factory=dict)

    @property
    def exercises(self) -> list[Exercise]:
        """The exercises to show, without extensions that hardly anybody has started."""
        return [
            exercise
            for exercise in self.course.assignment.exercises
            if self.term.countable(self.term.having(exercise.id))
            and (not exercise.extension or self.term.countable(self.term.begun(exercise.id)))
        ]

    def words(self, exercise: str) -> dict[str, str]:
        """Return descriptions of the mistakes in an exercise, by id."""
        own = {name: str(each["says"]) for name, each in self._variants(exercise).items()}
        return WORDS | NOT_ALLOWED | own

    def mistakes(self, exercise: str, term: Term) -> list[Mistake]:
        """Return the mistakes of a term in an exercise, the commonest first."""
        return term.mistakes(exercise, self.words(exercise))

    def place(self, mistake: Mistake) -> str:
        """Return where the handout explains a mistake, in the words of reports."""
        place = self.course.assignment.handout.place(mistake.exercise)
        section = self._variants(mistake.exercise).get(mistake.id, {}).get("section")
        return f"{place}, “{section}”" if section else place

    def _variants(self, exercise: str) -> Mapping[str, Any]:
        variants: Mapping[str, Any] = self.recorded.get(exercise, {}).get("variants", {})
        return variants

    def code(self, mistake: Mistake) -> tuple[list[str], list[str]]:
        """Return the wrong and the right lines of the project's own example of a mistake.

        There are none if there is no such example, if it is long, or if there is no solution.
        """
        for variant in self.course.variants:
            if (variant.exercise, variant.id) == (mistake.exercise, mistake.id):
                try:
                    solution = self.course.sources()[variant.module]
                    changed = variant.apply(solution)
                except (KeyError, VariantError):
                    break
                lines = list(difflib.ndiff(solution.splitlines(), changed.splitlines()))
                wrong, right = ([line[2:] for line in lines if line[0] == sign] for sign in "+-")
                return (wrong, right) if max(len(wrong), len(right)) <= LINES else ([], [])
        return [], []


def lesson_of(
    assignment: Assignment,
    recorded: Mapping[str, Any],
    entries: Sequence[Entry],
    deadline: datetime.datetime | None = None,
    versions: Mapping[str, int] | None = None,
    last: Term | None = None,
) -> Lesson:
    """Return the contents of the page for a class.

    Args:
        recorded, last: see `Lesson`.
        versions: each student's number of different hand-ins seen; see `Store.versions`.
    """
    graded = [entry for entry in entries if entry.result is not None]
    term = Term((str(entry.hand_in.path), entry.result or {}) for entry in graded)
    times = _handing_in(term, graded, deadline, versions or {})
    return Lesson(open_course(assignment), recorded, term, last, times)
