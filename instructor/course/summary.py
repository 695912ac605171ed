"""What a class did: how many there are of each kind, scores, pass rates, the commonest mistakes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.reports.model import ungraded
from grader.reports.runs import changes
from grader.result import Outcome
from instructor.course.entry import Entry

GRADED, PARTLY, NOT_GRADED, NOTHING = (
    *("graded", "graded in part", "not graded", "nothing handed in"),
)
KINDS = (GRADED, PARTLY, NOT_GRADED, NOTHING)
BINS = 10  # of the histogram, besides that of full marks
Result = Mapping[str, Any]


def kind_of(entry: Entry) -> str:
    """Return the one kind that an entry is counted under."""
    if entry.result is None:
        handed_in = entry.hand_in.path is not None or entry.hand_in.fault
        return NOT_GRADED if handed_in else NOTHING
    return PARTLY if ungraded(dict(entry.result)) else GRADED


def problem_of(entry: Entry) -> str:
    """Say what is wrong with an entry, "" if nothing is."""
    if entry.result is None:
        return entry.problem or kind_of(entry)
    lacking = ungraded(dict(entry.result))
    return entry.problem or (f"{', '.join(lacking)} could not be graded" if lacking else "")


def flags_of(entry: Entry) -> list[str]:
    """Return what an instructor should look at, and how the hand-in was found."""
    found = list(entry.hand_in.notes)
    if entry.hand_in.others:
        count = len(entry.hand_in.others)
        what = "file or folder" if count == 1 else "files or folders"
        found.append(f"{count} more {what}, not graded")
    if entry.result is not None:
        found += entry.result["flags"]
        for exercise in entry.result["exercises"]:
            found += [f"{exercise['id']}: {flag}" for flag in exercise["flags"]]
    return found


def changes_of(entry: Entry) -> list[Any]:
    """Return the exercises whose outcome or score is not what it was; see runs.changes."""
    if entry.previous is None or entry.result is None:
        return []
    found = changes(dict(entry.previous), dict(entry.result))
    return list(found["exercises"]) if found else []


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
    """A mistake with a name, and who made it: places among the entries."""

    exercise: str
    id: str
    text: str
    places: tuple[int, ...]


def exercises_of(entries: Sequence[Entry]) -> list[Exercise]:
    """Return every exercise of the results, in their order; bonus that nobody began is left out."""
    found: dict[str, list[Result]] = {}
    for entry in entries:
        for exercise in entry.result["exercises"] if entry.result else ():
            found.setdefault(exercise["id"], []).append(exercise)
    made = []
    for name, each in found.items():
        outcomes = Counter(str(one["outcome"]) for one in each)
        graded = len(each) - outcomes[Outcome.COULD_NOT_GRADE]
        begun = graded - outcomes[Outcome.NOT_WRITTEN]
        one = Exercise(name, bool(each[0]["bonus"]), outcomes[Outcome.PASSED], begun, graded)
        if begun or not one.bonus:
            made.append(one)
    return made


def mistakes_of(entries: Sequence[Entry]) -> list[Mistake]:
    """Return the mistakes that have a name, the commonest first."""
    texts: dict[tuple[str, str], Counter[str]] = {}
    places: dict[tuple[str, str], dict[int, None]] = {}
    for place, entry in enumerate(entries):
        for exercise in entry.result["exercises"] if entry.result else ():
            for finding in exercise["findings"]:
                if finding["mistake"]:
                    key = exercise["id"], finding["mistake"]
                    texts.setdefault(key, Counter())[finding["headline"]] += 1
                    places.setdefault(key, {})[place] = None
    made = [
        Mistake(exercise, name, texts[exercise, name].most_common(1)[0][0], tuple(each))
        for (exercise, name), each in places.items()
    ]
    return sorted(made, key=lambda one: (-len(one.places), one.exercise, one.id))


def histogram(entries: Sequence[Entry]) -> list[int]:
    """Return how many scores are in each tenth of the maximum; those with all points come last."""
    counts = [0] * (BINS + 1)
    for entry in entries:
        if entry.result is not None and entry.result["max_score"]:
            share = entry.result["score"] / entry.result["max_score"]
            counts[min(BINS, max(0, int(share * BINS + 1e-9)))] += 1
    return counts
