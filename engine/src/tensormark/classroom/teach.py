"""teach.html: what a class did, to be shown to that class, without students' words.

All text is from the engine, the assignment and its solution. A mistake that fewer than FEWEST made
is not on it.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tensormark.authoring.course import Course
from tensormark.classroom.counts import (
    ExerciseCount,
    MistakeCount,
    exercise_counts,
    histogram,
    mistake_counts,
)
from tensormark.classroom.entry import Entry
from tensormark.reports import pages

PAGE = "teach.html"
TEMPLATES = Path(__file__).with_name("templates")
FEWEST = 3
SHOWN = 6  # mistakes of an exercise


@dataclass(frozen=True)
class Example:
    """A mistake with the project's own example of it."""

    mistake: MistakeCount
    wrong: str
    right: str
    place: str


def _example(mistake: MistakeCount, course: Course) -> tuple[str, str]:
    """Return the wrong and the right code of a mistake; none if it is unknown."""
    for variant in course.variants:
        if (variant.exercise, variant.id) == (mistake.exercise, mistake.id):
            right = "\n".join(old for old, _ in variant.edits)
            wrong = "\n".join(new for _, new in variant.edits)
            return textwrap.dedent(wrong), textwrap.dedent(right)
    return "", ""


def _examples(
    count: ExerciseCount, mistakes: Sequence[MistakeCount], course: Course
) -> list[Example]:
    own = [each for each in mistakes if each.exercise == count.id and each.count >= FEWEST]
    place = course.assignment.handout.place(count.id)
    return [Example(each, *_example(each, course), place) for each in own[:SHOWN]]


def page(entries: Sequence[Entry], says: Mapping[tuple[str, str], str], course: Course) -> str:
    """Return the page.

    Args:
        says: see `mistake_counts`.
    """
    graded = [entry for entry in entries if entry.result is not None]
    counts = [count for count in exercise_counts(graded) if count.total >= FEWEST]
    mistakes = mistake_counts(graded, says)
    return pages.page(
        f"{course.assignment.name}: what the class did",
        TEMPLATES / "teach.html.j2",
        TEMPLATES / "teach.css",
        assignment=course.assignment.name,
        graded=len(graded),
        fewest=FEWEST,
        bars=histogram(graded),
        exercises=[
            (count, course.assignment.exercise(count.id).title, _examples(count, mistakes, course))
            for count in counts
        ],
    )
