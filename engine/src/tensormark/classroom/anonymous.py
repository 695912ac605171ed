"""A class without its people: which results are counted, and which counts are too small to show.

A count of one or two could point to somebody whom the rest of the class knows. So every count
stands for at least FEWEST hand-ins, where a team's is one. A bar of fewer joins a neighbour, so
that no subtraction gives it either; other counts are left out, or are words such as "nearly all".
A class of fewer than SMALLEST hand-ins is not counted at all.
"""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from tensormark.classroom.summary import EITHER, PAIR
from tensormark.reports.model import UNWRITTEN
from tensormark.reports.text import points
from tensormark.result import Outcome

FEWEST = 3
SMALLEST = 10
MARK = " *"  # of a number that has a few too many
Result = Mapping[str, Any]
Places = frozenset[int]  # of students in a class


@dataclass(frozen=True)
class Bar:
    """Students who have something in common.

    Attributes:
        kind: what the bar looks like.
        mixed: whether there are a few of another label among them.
    """

    label: str
    places: Places
    kind: str = "other"
    mixed: bool = False


@dataclass(frozen=True)
class Mistake:
    """A known mistake, and who made it; their sets are empty or large enough to be counted.

    Attributes:
        unsure: those whose results fit this mistake and another one as well.
    """

    exercise: str
    id: str
    sure: Places
    unsure: Places

    @property
    def places(self) -> Places:
        """All who may have made it."""
        return self.sure | self.unsure


class Share(NamedTuple):
    """A share as people read it: in percent or words, with the numbers to say before it, if any."""

    percent: float
    text: str
    numbers: str = ""

    @property
    def marked(self) -> "Share":
        """The same with the mark."""
        return self._replace(text=self.text + MARK)

    @property
    def is_marked(self) -> bool:
        """Whether it has that mark."""
        return self.text.endswith(MARK)

    def __str__(self) -> str:
        return f"{self.numbers}{self.text}"


def _names(exercise: Result) -> dict[str, bool]:
    """Return the ids of the mistakes in an exercise, one by one, and whether each is certain."""
    names: dict[str, bool] = {}
    for finding in exercise["findings"]:
        written = str(finding["mistake"] or "").split(EITHER)
        alternatives = [set(alternative.split(PAIR)) - {""} for alternative in written]
        for name in set().union(*alternatives):
            sure = all(name in alternative for alternative in alternatives)
            names[name] = names.get(name, False) or sure
    return names


class Term:
    """The results of a class."""

    def __init__(self, graded: Iterable[tuple[str, Result]]) -> None:
        """Take each student's result, with what identifies the hand-in, which a team shares."""
        pairs = list(graded)
        self.works = [work for work, _ in pairs]
        self.results = [result for _, result in pairs]
        self.exercises: list[dict[str, Result]] = [
            {exercise["id"]: exercise for exercise in result["exercises"]} for _, result in pairs
        ]

    def _hand_ins(self, places: Iterable[int]) -> int:
        return len({self.works[place] for place in places})

    def countable(self, places: Iterable[int]) -> bool:
        """Say whether it may be shown how many these are."""
        return self._hand_ins(places) >= FEWEST

    def counts(self, places: Iterable[int]) -> bool:
        """Say whether these are enough to count who of them has what."""
        return self._hand_ins(places) >= SMALLEST

    @property
    def counted(self) -> bool:
        """Whether anything of the whole class is counted."""
        return self.counts(range(len(self.works)))

    def share(self, part: Places, whole: Places) -> Share:
        """Return how many of some have something; in words if either they or the rest are few."""
        if not part or part == whole:
            return Share(100, "all") if part else Share(0, "nobody")
        if not self.countable(part):
            return Share(0, "hardly anybody")
        if not self.countable(whole - part):
            return Share(100, "nearly all")
        percent = 100 * len(part) / len(whole)
        return Share(percent, f"{percent:.0f}%", f"{len(part)} of {len(whole)}, ")

    def folded(self, bars: Iterable[Bar]) -> list[Bar]:
        """Return bars with those that are too small joined to the smaller of their neighbours."""
        left = [bar for bar in bars if bar.places]
        while len(left) > 1:
            small = min(range(len(left)), key=lambda place: self._hand_ins(left[place].places))
            if self.countable(left[small].places):
                break
            beside = [place for place in (small - 1, small + 1) if 0 <= place < len(left)]
            other = min(beside, key=lambda place: self._hand_ins(left[place].places))
            first, last = sorted((small, other))
            left[first : last + 1] = [self._joined(left[small], left[other], small < other)]
        return left

    def _joined(self, small: Bar, other: Bar, is_before: bool) -> Bar:
        places = small.places | other.places
        if self.countable(other.places):
            return Bar(other.label, places, other.kind, mixed=True)
        labels = (small.label, other.label) if is_before else (other.label, small.label)
        return Bar(" or ".join(labels), places, mixed=small.mixed or other.mixed)

    def having(self, exercise: str, *outcomes: Outcome) -> Places:
        """Return who has one of these outcomes in an exercise, or any if none is named."""
        return frozenset(
            place
            for place, own in enumerate(self.exercises)
            if exercise in own and (not outcomes or own[exercise]["outcome"] in outcomes)
        )

    def begun(self, exercise: str) -> Places:
        """Return who has written something of an exercise."""
        return self.having(exercise) - self.having(exercise, *UNWRITTEN)

    def outcomes(self, exercise: str) -> list[Bar]:
        """Return the histogram of an exercise: its outcomes, by points where it is not passed."""
        failed: dict[float, set[int]] = {}
        for place in self.having(exercise, Outcome.FAILED):
            failed.setdefault(self.exercises[place][exercise]["score"] or 0.0, set()).add(place)
        by_points = (
            Bar(f"not passed, {points(score)} points", frozenset(failed[score]), "failed")
            for score in sorted(failed)
        )
        return self.folded(
            [
                Bar("could not be graded", self.having(exercise, Outcome.COULD_NOT_GRADE)),
                Bar("not written", self.having(exercise, *UNWRITTEN), "unwritten"),
                *by_points,
                Bar(str(Outcome.PASSED), self.having(exercise, Outcome.PASSED), "passed"),
            ]
        )

    def amount(self, bar: Bar, whole: Places) -> Share:
        """Return how many are in a bar, with a mark if a few of them belong elsewhere."""
        share = self.share(bar.places, whole)
        if not bar.mixed:
            return share
        return Share(100, "nearly all") if bar.places == whole else share.marked

    def passed(self, exercise: str) -> Share:
        """Return how many passed, as its histogram has it, so that the two have no difference."""
        whole = self.having(exercise)
        bars = (bar for bar in self.outcomes(exercise) if bar.label == Outcome.PASSED)
        return self.amount(next(bars, Bar("", self.having(exercise, Outcome.PASSED))), whole)

    def mistakes(self, exercise: str, known: Iterable[str]) -> list[Mistake]:
        """Return the known mistakes that may be counted, the commonest first; each counts alone."""
        sure: dict[str, set[int]] = {name: set() for name in known}
        unsure: dict[str, set[int]] = {name: set() for name in sure}
        for place in self.having(exercise):
            for name, certain in _names(self.exercises[place][exercise]).items():
                if name in sure:
                    (sure if certain else unsure)[name].add(place)
        made = (self._mistake(exercise, name, sure[name], unsure[name]) for name in sure)
        return sorted(
            (mistake for mistake in made if mistake.places),
            key=lambda mistake: (-len(mistake.places), -len(mistake.sure), mistake.id),
        )

    def _mistake(self, exercise: str, name: str, sure: set[int], unsure: set[int]) -> Mistake:
        """Return a mistake with sets that may be counted; too few who are sure are unsure."""
        certain, possible = frozenset(sure), frozenset(unsure)
        if not self.countable(certain):
            certain, possible = frozenset(), certain | possible
        return Mistake(
            exercise, name, certain, possible if self.countable(possible) else frozenset()
        )

    def others(self, exercise: str, mistakes: Iterable[Mistake]) -> Places:
        """Return who has not passed an exercise and made none of these mistakes."""
        named = reduce(frozenset.union, (mistake.places for mistake in mistakes), Places())
        return self.having(exercise, Outcome.FAILED) - named

    def quartiles(self) -> list[float]:
        """Return the scores below which a quarter, half and three quarters of the class are."""
        scores = [result["score"] for result in self.results]
        return statistics.quantiles(scores, n=4, method="inclusive")
