"""What a class has in common: flags, equal submissions, scores, and the commonest mistakes."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tensormark.classroom.entry import Entry
from tensormark.result import Outcome

Says = Mapping[tuple[str, str], str]  # descriptions of mistakes, by ids of exercise and mistake
BINS = 10  # of the histogram, besides the one for full marks
# join ids of mistakes
PAIR = "+"  # all were made
EITHER = "|"  # one of them was made
COMMON = 0.5  # the share of a class from which on a flag says nothing about anybody


def note_flags(entries: Sequence[Entry]) -> list[str]:
    """Give each entry the flags of its result that most of the class do not have.

    Returns: those that most have.
    """
    flags = {entry: dict.fromkeys(entry.result["flags"]) for entry in entries if entry.result}
    counts = Counter(itertools.chain.from_iterable(flags.values()))
    graded = len(flags)
    common = [flag for flag, count in counts.items() if graded > 2 and count > COMMON * graded]
    for entry, own in flags.items():
        entry.flags = [flag for flag in own if flag not in common]
    return common


def _essence(sources: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return modules without comments and layout; what follows a # in a string goes, too."""
    return frozenset((name, re.sub(r"\s|#[^\n]*", "", text)) for name, text in sources.items())


def note_equal(entries: Sequence[Entry], given: Mapping[str, str]) -> None:
    """Note whose files are equal apart from comments and layout; a team's are one submission.

    Args:
        given: the text of each file as students got it, by module.
    """
    untouched = _essence(given)
    groups: dict[frozenset[tuple[str, str]], list[Entry]] = {}
    for entry in entries:
        if entry.submission is not None:
            own = _essence(entry.submission.sources) - untouched
            if own:
                groups.setdefault(own, []).append(entry)
    for group in groups.values():
        for entry in group:
            entry.equal_to = [other.student for other in group if other.path != entry.path]


@dataclass(frozen=True)
class ExerciseCount:
    """How a class did in an exercise; the counts are of submissions."""

    id: str
    bonus: bool
    passed: int
    total: int


@dataclass(frozen=True)
class MistakeCount:
    """A mistake with a name, and the students who made it, whatever else they did."""

    exercise: str
    id: str
    text: str
    students: set[str]

    @property
    def count(self) -> int:
        """How many made it."""
        return len(self.students)


def exercise_counts(entries: Sequence[Entry]) -> list[ExerciseCount]:
    """Return every exercise of the results, in order, but no bonus exercise that nobody began.

    `total` counts those who were graded; of a bonus exercise, those who began.
    """
    results: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        for exercise in entry.exercises:
            results.setdefault(exercise["id"], []).append(exercise)
    counts = []
    for name, own in results.items():
        outcomes = Counter(str(exercise["outcome"]) for exercise in own)
        graded = len(own) - outcomes[Outcome.COULD_NOT_GRADE]
        begun = graded - outcomes[Outcome.NOT_WRITTEN]
        bonus = bool(own[0]["bonus"])
        if begun or not bonus:
            total = begun if bonus else graded
            counts.append(ExerciseCount(name, bonus, outcomes[Outcome.PASSED], total))
    return counts


def _single_mistakes(mistake: str) -> list[str]:
    """Return the single mistakes in an id: those that were made whichever alternative is true."""
    first, *others = (set(alternative.split(PAIR)) for alternative in mistake.split(EITHER))
    return sorted(first.intersection(*others)) or [mistake]


def _made(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield the ids of each exercise and single mistake in an entry."""
    for exercise in entry.exercises:
        for finding in exercise["findings"]:
            for name in _single_mistakes(finding["mistake"] or ""):
                yield exercise["id"], name


def mistake_counts(entries: Sequence[Entry], says: Says) -> list[MistakeCount]:
    """Return the mistakes that have a name, the commonest first; each of several at once counts.

    Args:
        says: descriptions, by the ids of an exercise and a mistake; others are left out, since
            what a student was told may quote the submission.
    """
    students: dict[tuple[str, str], set[str]] = {}
    for entry in entries:
        for key in says.keys() & _made(entry):
            students.setdefault(key, set()).add(entry.student)
    mistakes = [MistakeCount(*key, says[key], own) for key, own in students.items()]
    return sorted(mistakes, key=lambda each: (-each.count, each.exercise, each.id))


def histogram(entries: Sequence[Entry]) -> list[int]:
    """Return how many scores are in each tenth of the maximum; full marks come last."""
    counts = [0] * (BINS + 1)
    for entry in entries:
        if entry.result is not None and entry.result["max_score"]:
            share = entry.result["score"] / entry.result["max_score"]
            counts[min(BINS, max(0, int(share * BINS + 1e-9)))] += 1
    return counts
