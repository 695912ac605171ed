"""Summarizes a class: how many of each kind, scores, pass rates, the commonest mistakes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tensormark.classroom.entry import Entry
from tensormark.reports.model import ungraded
from tensormark.reports.runs import changes
from tensormark.result import UNIMPORTABLE, Outcome

# each entry is of one kind; PARTLY and COULD_NOT are the fault of the grader or its machine
GRADED, PARTLY, COULD_NOT, UNREAD, NOT_IN, LEFT = KINDS = (
    "graded",
    "graded in part",
    "could not be graded",
    "could not be read",
    "not handed in",
    "not graded yet",
)
OURS = (PARTLY, COULD_NOT)
BINS = 10  # of the histogram, besides the one for full marks
PAIR, EITHER = "+", "|"  # join ids of mistakes: all were made, or one of them
Result = Mapping[str, Any]
Says = Mapping[tuple[str, str], str]  # ids of an exercise and a mistake to a description


def kind_of(entry: Entry) -> str:
    """Return the one kind that an entry is counted under."""
    if entry.result is not None:
        return PARTLY if ungraded(entry.result) else GRADED
    if entry.hand_in.path is None:
        return UNREAD if entry.hand_in.fault else NOT_IN
    if entry.attempts:
        return COULD_NOT
    return LEFT if entry.problem == LEFT else UNREAD


def problem_of(entry: Entry) -> str:
    """Say what is wrong with an entry, "" if nothing is."""
    if entry.result is None:
        return entry.problem or kind_of(entry)
    lacking = ungraded(entry.result)
    return entry.problem or (f"{', '.join(lacking)} could not be graded" if lacking else "")


def flags_of(entry: Entry) -> list[str]:
    """Return what an instructor should look at, and how the hand-in was found."""
    flags = list(entry.hand_in.notes)
    if entry.hand_in.others:
        count = len(entry.hand_in.others)
        noun = "file or folder" if count == 1 else "files or folders"
        flags.append(f"{count} more {noun}, not graded")
    if entry.result is not None:
        flags += entry.result["flags"]  # those of exercises are among them
    return list(dict.fromkeys(flags))


def unimportable(entry: Entry) -> list[str]:
    """Return the names of the files that cannot be imported."""
    findings = (finding for exercise in entry.exercises for finding in exercise["findings"])
    matches = (UNIMPORTABLE.fullmatch(finding["headline"]) for finding in findings)
    return list(dict.fromkeys(match[1] for match in matches if match))


def changes_of(entry: Entry) -> list[Any]:
    """Return the exercises whose outcome or score is not what it was; see runs.changes."""
    if entry.previous is None or entry.result is None:
        return []
    changed = changes(dict(entry.previous), dict(entry.result))
    return list(changed["exercises"]) if changed else []


@dataclass(frozen=True)
class Exercise:
    """How a class did in an exercise; the counts are of submissions."""

    id: str
    bonus: bool
    passed: int
    begun: int
    graded: int


@dataclass(frozen=True)
class Mistake:
    """A mistake with a name, and who made it: indices of entries."""

    exercise: str
    id: str
    text: str
    places: tuple[int, ...]


def exercises_of(entries: Sequence[Entry]) -> list[Exercise]:
    """Return every exercise in the results, in order, but no bonus exercise that nobody began."""
    results: dict[str, list[Result]] = {}
    for entry in entries:
        for exercise in entry.exercises:
            results.setdefault(exercise["id"], []).append(exercise)
    exercises = []
    for name, own in results.items():
        outcomes = Counter(str(exercise["outcome"]) for exercise in own)
        graded = len(own) - outcomes[Outcome.COULD_NOT_GRADE]
        begun = graded - outcomes[Outcome.NOT_WRITTEN]
        bonus = bool(own[0]["bonus"])
        if begun or not bonus:
            exercises.append(Exercise(name, bonus, outcomes[Outcome.PASSED], begun, graded))
    return exercises


def _single_mistakes(mistake: str) -> list[str]:
    """Return the single mistakes in an id: those that were made whichever alternative is true.

    Alternatives that have nothing in common count as one mistake.
    """
    first, *others = (set(alternative.split(PAIR)) for alternative in mistake.split(EITHER))
    return sorted(first.intersection(*others)) or [mistake]


def mistakes_of(entries: Sequence[Entry], says: Says | None = None) -> list[Mistake]:
    """Return the mistakes that have a name, the commonest first; each of several at once counts.

    Args:
        says: their descriptions; those without one get what most students were told.
    """
    says = says or {}
    texts: dict[tuple[str, str], Counter[str]] = {}
    places: dict[tuple[str, str], dict[int, None]] = {}
    for index, entry in enumerate(entries):
        for exercise in entry.exercises:
            for finding in exercise["findings"]:
                for name in _single_mistakes(finding["mistake"] or ""):
                    key = exercise["id"], name
                    alone = name == finding["mistake"]
                    if name:
                        texts.setdefault(key, Counter())[finding["headline"]] += alone
                        places.setdefault(key, {})[index] = None
    mistakes = [
        Mistake(*key, says.get(key) or texts[key].most_common(1)[0][0], tuple(each))
        for key, each in places.items()
    ]
    return sorted(
        mistakes, key=lambda mistake: (-len(mistake.places), mistake.exercise, mistake.id)
    )


def histogram(entries: Sequence[Entry]) -> list[int]:
    """Return how many scores are in each tenth of the maximum; full marks come last."""
    counts = [0] * (BINS + 1)
    for entry in entries:
        if entry.result is not None and entry.result["max_score"]:
            share = entry.result["score"] / entry.result["max_score"]
            counts[min(BINS, max(0, int(share * BINS + 1e-9)))] += 1
    return counts
