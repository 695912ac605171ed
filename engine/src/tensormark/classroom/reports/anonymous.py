"""Anonymous statistics of a class: what is counted, and which counts are too small to show.

A count of one or two could identify somebody to the rest of the class. So every count covers at
least FEWEST hand-ins, where a team's counts once. A smaller bar is merged with a neighbour, so that
subtraction cannot reveal it either; other small counts are left out, or replaced by words such as
"nearly all". A class of fewer than SMALLEST hand-ins is not counted at all.
"""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tensormark.classroom.summary import EITHER, PAIR
from tensormark.reports.text import points
from tensormark.result import UNWRITTEN, Outcome

FEWEST = 3
SMALLEST = 10
MARK = " *"  # after a number that includes a few of another label
Result = Mapping[str, Any]
Places = frozenset[int]  # indices of students in a class


@dataclass(frozen=True)
class Bar:
    """Students who have something in common.

    Attributes:
        kind: the bar's CSS class.
        mixed: whether a few with another label are among them.
    """

    label: str
    places: Places
    kind: str = "other"
    mixed: bool = False


@dataclass(frozen=True)
class Mistake:
    """A known mistake and who made it; each set is empty or large enough to be counted.

    Attributes:
        unsure: those whose results also fit another mistake.
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
    """A share for people to read: a percentage or words, preceded by any `numbers`."""

    percent: float
    text: str
    numbers: str = ""

    @property
    def marked(self) -> "Share":
        """The same share with MARK."""
        return self._replace(text=self.text + MARK)

    @property
    def is_marked(self) -> bool:
        """Whether it has MARK."""
        return self.text.endswith(MARK)

    def __str__(self) -> str:
        return f"{self.numbers}{self.text}"


def _names(exercise: Result) -> dict[str, bool]:
    """Return the id of each mistake in an exercise, and whether it is certain."""
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
        """Take each student's result, with an identifier of the hand-in, which a team shares."""
        pairs = list(graded)
        self.works = [work for work, _ in pairs]
        self.results = [result for _, result in pairs]
        self.exercises: list[dict[str, Result]] = [
            {exercise["id"]: exercise for exercise in result["exercises"]} for _, result in pairs
        ]

    def _hand_ins(self, places: Iterable[int]) -> int:
        return len({self.works[place] for place in places})

    def countable(self, places: Iterable[int]) -> bool:
        """Say whether the number of these may be shown."""
        return self._hand_ins(places) >= FEWEST

    def suffices(self, places: Iterable[int]) -> bool:
        """Say whether these are enough to be broken down into counts."""
        return self._hand_ins(places) >= SMALLEST

    @property
    def counted(self) -> bool:
        """Whether the class is large enough for its results to be counted."""
        return self.suffices(range(len(self.works)))

    def share(self, part: Places, whole: Places) -> Share:
        """Return the share of `part` in `whole`; in words if either it or the rest is small."""
        if not part or part == whole:
            return Share(100, "all") if part else Share(0, "nobody")
        if not self.countable(part):
            return Share(0, "hardly anybody")
        if not self.countable(whole - part):
            return Share(100, "nearly all")
        percent = 100 * len(part) / len(whole)
        return Share(percent, f"{percent:.0f}%", f"{len(part)} of {len(whole)}, ")

    def folded(self, bars: Iterable[Bar]) -> list[Bar]:
        """Return bars with each that is too small merged into its smaller neighbour."""
        merged = [bar for bar in bars if bar.places]
        while len(merged) > 1:
            small = min(range(len(merged)), key=lambda index: self._hand_ins(merged[index].places))
            if self.countable(merged[small].places):
                break
            neighbours = [index for index in (small - 1, small + 1) if 0 <= index < len(merged)]
            other = min(neighbours, key=lambda index: self._hand_ins(merged[index].places))
            first, last = sorted((small, other))
            merged[first : last + 1] = [self._merged(merged[small], merged[other], small < other)]
        return merged

    def _merged(self, small: Bar, other: Bar, is_before: bool) -> Bar:
        places = small.places | other.places
        if self.countable(other.places):
            return Bar(other.label, places, other.kind, mixed=True)
        labels = (small.label, other.label) if is_before else (other.label, small.label)
        return Bar(" or ".join(labels), places, mixed=small.mixed or other.mixed)

    def having(self, exercise: str, *outcomes: Outcome) -> Places:
        """Return who has one of these outcomes in an exercise, or any outcome if none is given."""
        return frozenset(
            place
            for place, own in enumerate(self.exercises)
            if exercise in own and (not outcomes or own[exercise]["outcome"] in outcomes)
        )

    def begun(self, exercise: str) -> Places:
        """Return who has written any part of an exercise."""
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
        """Return a bar's share of `whole`, marked if a few of its students have another label."""
        share = self.share(bar.places, whole)
        if not bar.mixed:
            return share
        return Share(100, "nearly all") if bar.places == whole else share.marked

    def passed(self, exercise: str) -> Share:
        """Return the share that passed; the histogram's, so that subtraction reveals nothing."""
        whole = self.having(exercise)
        bars = (bar for bar in self.outcomes(exercise) if bar.label == Outcome.PASSED)
        return self.amount(next(bars, Bar("", self.having(exercise, Outcome.PASSED))), whole)

    def mistakes(self, exercise: str, ids: Iterable[str]) -> list[Mistake]:
        """Return the known mistakes that may be counted, each on its own, the commonest first."""
        sure: dict[str, set[int]] = {name: set() for name in ids}
        unsure: dict[str, set[int]] = {name: set() for name in sure}
        for place in self.having(exercise):
            for name, certain in _names(self.exercises[place][exercise]).items():
                if name in sure:
                    (sure if certain else unsure)[name].add(place)
        mistakes = (self._mistake(exercise, name, sure[name], unsure[name]) for name in sure)
        return sorted(
            (mistake for mistake in mistakes if mistake.places),
            key=lambda mistake: (-len(mistake.places), -len(mistake.sure), mistake.id),
        )

    def _mistake(self, exercise: str, name: str, sure: set[int], unsure: set[int]) -> Mistake:
        """Return a mistake with sets that may be counted; too few who are sure join the unsure."""
        certain, possible = frozenset(sure), frozenset(unsure)
        if not self.countable(certain):
            certain, possible = frozenset(), certain | possible
        return Mistake(
            exercise, name, certain, possible if self.countable(possible) else frozenset()
        )

    def others(self, exercise: str, mistakes: Iterable[Mistake]) -> Places:
        """Return who failed an exercise without making any of these mistakes."""
        named = (mistake.places for mistake in mistakes)
        return self.having(exercise, Outcome.FAILED).difference(*named)

    def quartiles(self) -> list[float]:
        """Return the quartiles of the scores: below them are 1/4, 1/2 and 3/4 of the class."""
        scores = [result["score"] for result in self.results]
        return statistics.quantiles(scores, n=4, method="inclusive")
