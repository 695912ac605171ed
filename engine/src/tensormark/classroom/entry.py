"""A student's line of the gradebook, from which everything about a class is written."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensormark.classroom.adjustments import Adjustment
from tensormark.classroom.hand_in import HandIn
from tensormark.intake.submission import Submission
from tensormark.reports.model import ungraded
from tensormark.result import UNIMPORTABLE, Outcome
from tensormark.viva.question import Sheet

# each entry is of one kind; PARTLY and COULD_NOT are the fault of the grader or its machine
GRADED = "graded"
PARTLY = "graded in part"
COULD_NOT = "could not be graded"
UNREAD = "could not be read"
NOT_IN = "not handed in"
LEFT = "not graded yet"
KINDS = (GRADED, PARTLY, COULD_NOT, UNREAD, NOT_IN, LEFT)
OURS = (PARTLY, COULD_NOT)
BINS = 10  # of the histogram, besides the one for full marks
# join ids of mistakes
PAIR = "+"  # all were made
EITHER = "|"  # one of them was made
COMMON = 0.5  # the share of a class from which on a flag says nothing about anybody


@dataclass
class Entry:
    """A hand-in and its grading.

    Attributes:
        submission: what to grade; None if there is nothing.
        problem: why there is no result, in one sentence; "" if there is one.
        result: the result model, see reports/result.schema.json.
        equal: other students whose files are equal apart from comments and layout.
        report: the folder of the student's feedback, relative to OUT; "" if there is none.
        sheet: questions about their own code; sheet_note: why there are none, or fewer.
    """

    hand_in: HandIn
    submission: Submission | None = None
    problem: str = ""
    result: Mapping[str, Any] | None = None
    adjustments: Sequence[Adjustment] = ()
    equal: Sequence[str] = ()
    report: str = ""
    sheet: Sheet | None = None
    sheet_note: str = ""
    flags: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """The one kind that it is counted under."""
        if self.result is not None:
            return PARTLY if ungraded(self.result) else GRADED
        if self.hand_in.path is None:
            return UNREAD if self.hand_in.fault else NOT_IN
        if self.submission is None:
            return UNREAD
        return COULD_NOT if self.problem else LEFT

    @property
    def exercises(self) -> Sequence[Mapping[str, Any]]:
        """The exercises of the result; none if there is no result."""
        return self.result["exercises"] if self.result else ()

    @property
    def points(self) -> float | None:
        """What the student gets: the score with all adjustments; None while part is unknown.

        Somebody who handed in nothing that can be read has only adjustments.
        """
        if self.kind in (PARTLY, COULD_NOT, LEFT):
            return None
        if self.result is None and not self.adjustments:
            return None
        score = float(self.result["score"]) if self.result else 0.0
        return score + sum(each.points for each in self.adjustments)

    @property
    def without(self) -> str:
        """What is wrong; "" if nothing is."""
        if self.result is None:
            return self.problem or self.hand_in.fault or self.kind
        lacking = ungraded(self.result)
        return f"{', '.join(lacking)} could not be graded" if lacking else ""

    @property
    def notes(self) -> list[str]:
        """What staff should know about the hand-in."""
        notes = [*self.hand_in.notes]
        names = (
            UNIMPORTABLE.fullmatch(f["headline"]) for e in self.exercises for f in e["findings"]
        )
        files = dict.fromkeys(match[1] for match in names if match)
        if files:
            notes.insert(0, f"{', '.join(files)} cannot be imported")
        if self.hand_in.others:
            names_of_others = ", ".join(path.name for path in self.hand_in.others[:3])
            notes.append(f"not graded: {names_of_others}")
        notes += map(str, self.adjustments)
        return list(dict.fromkeys(notes))


def note_flags(entries: Sequence[Entry]) -> list[str]:
    """Give each entry the flags of its result that most of the class do not have.

    Returns: those that most have.
    """
    for entry in entries:
        entry.flags = list(dict.fromkeys(entry.result["flags"])) if entry.result else []
    counts = Counter(flag for entry in entries for flag in entry.flags)
    graded = sum(entry.result is not None for entry in entries)
    common = [flag for flag, count in counts.items() if graded > 2 and count > COMMON * graded]
    for entry in entries:
        entry.flags = [flag for flag in entry.flags if flag not in common]
    return common


def _essence(text: str) -> str:
    """Return a source without comments and layout; what follows a # in a string goes, too."""
    return re.sub(r"\s|#[^\n]*", "", text)


def note_equal(entries: Sequence[Entry], given: Mapping[str, str]) -> None:
    """Note whose files are equal apart from comments and layout; a team's are one hand-in.

    Args:
        given: the text of each editable file as students got it, by module.
    """
    untouched = {name: _essence(text) for name, text in given.items()}
    groups: dict[tuple[tuple[str, str], ...], list[Entry]] = {}
    for entry in entries:
        if entry.submission is not None:
            sources = entry.submission.sources.items()
            texts = {name: _essence(text) for name, text in sources}
            own = {name: text for name, text in texts.items() if text != untouched.get(name)}
            if own:
                groups.setdefault(tuple(sorted(own.items())), []).append(entry)
    for group in groups.values():
        for entry in group:
            entry.equal = [
                other.hand_in.student for other in group if other.hand_in.path != entry.hand_in.path
            ]


@dataclass(frozen=True)
class ExerciseCount:
    """How a class did in an exercise; the counts are of submissions."""

    id: str
    bonus: bool
    passed: int
    total: int


@dataclass(frozen=True)
class MistakeCount:
    """A mistake with a name, and the indices of those who made it, whatever else they did."""

    exercise: str
    id: str
    text: str
    members: frozenset[int]

    @property
    def count(self) -> int:
        """How many made it."""
        return len(self.members)


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


def mistake_counts(
    entries: Sequence[Entry], says: Mapping[tuple[str, str], str]
) -> list[MistakeCount]:
    """Return the mistakes that have a name, the commonest first; each of several at once counts.

    Args:
        says: descriptions, by the ids of an exercise and a mistake; others are left out, since
            what a student was told may quote the submission.
    """
    members: dict[tuple[str, str], set[int]] = {}
    for place, entry in enumerate(entries):
        made = {
            (exercise["id"], name)
            for exercise in entry.exercises
            for finding in exercise["findings"]
            for name in _single_mistakes(finding["mistake"] or "")
        }
        for key in made & says.keys():
            members.setdefault(key, set()).add(place)
    mistakes = [MistakeCount(*key, says[key], frozenset(own)) for key, own in members.items()]
    return sorted(mistakes, key=lambda each: (-each.count, each.exercise, each.id))


def histogram(entries: Sequence[Entry]) -> list[int]:
    """Return how many scores are in each tenth of the maximum; full marks come last."""
    counts = [0] * (BINS + 1)
    for entry in entries:
        if entry.result is not None and entry.result["max_score"]:
            share = entry.result["score"] / entry.result["max_score"]
            counts[min(BINS, max(0, int(share * BINS + 1e-9)))] += 1
    return counts
