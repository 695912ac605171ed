"""Try one exercise while it is being written: `tensormark try ID`.

The exercise is recorded alone, into a folder that is thrown away, and graded with that: the
solution, the empty hole, the honest variants of its file, and every known mistake. This takes
seconds, where recording all takes minutes. A task is graded with the public references, of which it
needs what was measured for it: the solution, and the starter. Nothing is written.

A line for each says what it came to; one that should have come to something else begins with `!`.
The exit status is 1 where there is such a line.
"""

import argparse
import dataclasses
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tensormark.authoring.course import Course, open_course
from tensormark.authoring.record import record
from tensormark.authoring.recorder import RecordError
from tensormark.authoring.strip import MarkerError, derive
from tensormark.authoring.tolerance import ToleranceError
from tensormark.authoring.variants import VariantError, apply
from tensormark.folder import open_assignment
from tensormark.grading import program_of
from tensormark.intake.inspection import inspected_here
from tensormark.intake.submission import Submission
from tensormark.observer import Silent
from tensormark.references import References, ReferencesError
from tensormark.result import Outcome, Result
from tensormark.sandbox.process import ProcessSandbox
from tensormark.session import GradingSession
from tensormark.settings import Settings
from tensormark.usage import option

Judge = Callable[[Result], bool]
FAULTS = (RecordError, MarkerError, ToleranceError, VariantError, ReferencesError)


@dataclasses.dataclass(frozen=True)
class Attempt:
    """A source of the exercise's file, and what it should come to; it may have a mistake in it."""

    name: str
    source: str
    expected: Judge
    mistake: bool = False


def passed(result: Result) -> bool:
    """Say whether nothing is wrong."""
    return result.outcome is Outcome.PASSED and result.score == result.max_score


def unwritten(result: Result) -> bool:
    """Say whether the hole was found empty."""
    return result.outcome is Outcome.NOT_WRITTEN


def worthless(result: Result) -> bool:
    """Say whether there were no points."""
    return result.score == 0


def names(mistake: str) -> Judge:
    """Return what says whether points were lost, and to this mistake."""

    def judge(result: Result) -> bool:
        named = (result.as_json()["mistake"] or "").split("|")
        return result.score != result.max_score and mistake in named

    return judge


def alone(course: Course, exercise_id: str) -> Course:
    """Return a course that has one exercise only.

    Raises:
        KeyError: there is no such exercise.
    """
    exercise = course.assignment.exercise(exercise_id)
    return dataclasses.replace(
        course,
        assignment=dataclasses.replace(course.assignment, exercises=(exercise,)),
        variants=tuple(one for one in course.variants if one.exercise == exercise.id),
        honest=tuple(one for one in course.honest if one.module == exercise.module),
        staff=dataclasses.replace(course.staff, common=frozenset(), seen={}),
    )


def attempts(course: Course) -> Iterator[Attempt]:
    """Yield what a course of one exercise is tried with."""
    (exercise,) = course.assignment.exercises
    source = course.sources()[exercise.module]
    empty = Attempt("starter", derive(course.assignment)[exercise.file], unwritten)
    yield Attempt("solution", source, passed)
    if exercise.task is not None:  # its own hole, if any, is that of another exercise
        yield dataclasses.replace(empty, expected=worthless)
        return
    yield empty
    for one in course.honest:
        yield Attempt(f"honest {one.id}", one.apply(source), passed)
    for variant in course.variants:
        yield Attempt(f"mistake {variant.id}", apply(variant, source), names(variant.name), True)


def results(
    course: Course, folder: Path, seed: int | None = None
) -> Iterator[tuple[Attempt, Result]]:
    """Record a course of one exercise into a folder, and yield what each attempt came to.

    Raises:
        ReferencesError: it is a task, and there are no public references.
    """
    assignment = course.assignment
    (exercise,) = assignment.exercises
    settings = Settings.of(assignment.folder)
    if exercise.task is None:
        settings = dataclasses.replace(settings, references=folder)
        seed = assignment.seed if seed is None else seed
        record(course, folder, seed, False, settings.checkpoint)
    references = References(settings.references)
    with ProcessSandbox(program_of(assignment, [], course.sources(), settings)) as sandbox:
        for attempt in attempts(course):
            handed_in = {exercise.module: attempt.source}
            sandbox.reload(course.sources() | handed_in)
            submission = inspected_here(Submission(exercise.file, handed_in, {}))
            about = sandbox, references, settings, Silent()
            session = GradingSession(assignment, [exercise], submission, *about)
            yield attempt, session.run()[exercise.id]


def line(attempt: Attempt, result: Result) -> str:
    """Return what is printed of an attempt."""
    mark = " " if attempt.expected(result) else "!"
    points = f"{result.score or 0:g}/{result.max_score:g}"
    said = result.findings[0].headline if result.findings else ""
    if mark == "!" and attempt.mistake:
        said = f"{why_not(result)}: {said}".rstrip(": ")
    return f"{mark} {attempt.name:40} {result.outcome:16} {points:>7}   {said}".rstrip()


def why_not(result: Result) -> str:
    """Say why a mistake is not recognized."""
    named = result.as_json()["mistake"]
    if result.score == result.max_score:
        return "it costs no points"
    return f"it is called {' or '.join(named.split('|'))}" if named else "it has no name"


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Try an exercise."""
    description = "Try one exercise: the solution passes, and each known mistake is named."
    parser = argparse.ArgumentParser(prog=f"tensormark {name}", description=description)
    parser.add_argument("id", help="of the exercise, such as layer_norm")
    exercise, wrong = parser.parse_args(arguments).id, 0
    try:
        course = alone(open_course(open_assignment(folder)), exercise)
    except KeyError:
        given = option("id", exercise)
        print(f"{name}: {given}: there is no exercise of this name", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for attempt, result in results(course, Path(scratch)):
                print(line(attempt, result), flush=True)
                wrong += not attempt.expected(result)
    except (*FAULTS, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return 1 if wrong else 0
