"""Which exercises are run for a submission, and which of them are reported on."""

import difflib
from collections.abc import Collection, Sequence

from tensormark.exercise import Assignment, Exercise
from tensormark.intake.submission import SubmissionError
from tensormark.usage import command, option


def selected(
    assignment: Assignment, check: bool, only: str | None
) -> tuple[list[Exercise], list[str]]:
    """Return the exercises to run, upstream ones included, and the ids of those to report on.

    Raises:
        SubmissionError: there is no such exercise.
    """
    available = [e for e in assignment.exercises if e.task is None or not check]
    ids = [exercise.id for exercise in available]
    if only is None:
        return available, ids
    requested = list(dict.fromkeys(only.replace(",", " ").split())) or [only]
    for name in requested:
        if name not in ids and any(exercise.id == name for exercise in assignment.exercises):
            raise SubmissionError(
                f"{option('k', name)}: needs training; run `{command('grade', k=only)}`"
            )
        if name not in ids:
            near = difflib.get_close_matches(name, ids, n=1)
            hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(ids)}"
            raise SubmissionError(f"{option('k', name)}: there is no such exercise; {hint}")
    needed = {up for name in requested for up in (name, *assignment.exercise(name).upstream)}
    shown = [name for name in ids if name in requested]
    return [exercise for exercise in available if exercise.id in needed], shown


def unreported(
    untouched: Collection[str], exercises: Sequence[Exercise], only: str | None
) -> set[str]:
    """Return the ids that a report leaves out: extensions neither handed in nor requested."""
    if only is not None:
        return set()
    return {e.id for e in exercises if e.extension and e.file in untouched}
