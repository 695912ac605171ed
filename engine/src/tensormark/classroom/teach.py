"""teach.html: what a class did, to be shown to that class, without students' words.

All text is from the engine, the assignment and its solution. A mistake that fewer than FEWEST made
is not on it.
"""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from tensormark.authoring.course import Course
from tensormark.classroom.counts import (
    MistakeCount,
    Says,
    exercise_counts,
    histogram,
    mistake_counts,
)
from tensormark.classroom.entry import UNIMPORTABLE, Entry
from tensormark.reports import pages

PAGE = "teach.html"
TEMPLATES = Path(__file__).with_name("templates")
FEWEST = 3
SHOWN = 6  # mistakes of an exercise


def _examples(
    exercise: str, mistakes: Sequence[MistakeCount], course: Course
) -> list[tuple[MistakeCount, str, str]]:
    """Return the commonest mistakes of an exercise, with the project's own wrong and right code."""
    edits = {(variant.exercise, variant.id): variant.edits for variant in course.variants}
    examples = []
    for mistake in mistakes:
        if mistake.exercise == exercise and mistake.count >= FEWEST:
            own = edits.get((exercise, mistake.id), ())
            wrong = textwrap.dedent("\n".join(new for _, new in own))
            right = textwrap.dedent("\n".join(old for old, _ in own))
            examples.append((mistake, wrong, right))
    return examples[:SHOWN]


def page(entries: Sequence[Entry], says: Says, course: Course) -> str:
    """Return the page.

    Args:
        says: see `mistake_counts`.
    """
    assignment = course.assignment
    graded = [entry for entry in entries if entry.result is not None]
    mistakes = mistake_counts(graded, says)
    exercises = [
        (
            count,
            assignment.exercise(count.id).title,
            assignment.handout.place(count.id),
            _examples(count.id, mistakes, course),
        )
        for count in exercise_counts(graded)
        if count.total >= FEWEST
    ]
    return pages.page(
        f"{assignment.name}: what the class did",
        TEMPLATES / "teach.html.j2",
        TEMPLATES / "teach.css",
        assignment=assignment.name,
        graded=len(graded),
        unimportable=sum(entry.kind == UNIMPORTABLE for entry in graded),
        fewest=FEWEST,
        bars=histogram(graded),
        exercises=exercises,
    )
