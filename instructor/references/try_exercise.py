"""Try one exercise while it is being written: `make try ID=name`.

The exercise is recorded alone, into a folder that is thrown away, and graded with that: the
solution, the empty hole, the honest variants of its file, and every known mistake. This takes
seconds, where `make references` takes minutes. Nothing is written.

A line for each says what it came to; one that should have come to something else begins with `!`.
The exit status is 1 where there is such a line.
"""

import argparse
import dataclasses
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from grader.grading import program_of
from grader.intake.inspection import inspected_here
from grader.intake.submission import Submission
from grader.observer import Silent
from grader.references import References
from grader.result import Outcome, Result
from grader.sandbox.process import ProcessSandbox
from grader.session import GradingSession
from grader.settings import CHECKPOINT, Settings
from instructor.references.course import SEED, Course, minbert
from instructor.references.record import record
from instructor.references.recorder import RecordError
from instructor.references.strip import MarkerError, derive
from instructor.references.tolerance import ToleranceError
from instructor.references.variants import VariantError, apply

Judge = Callable[[Result], bool]


@dataclasses.dataclass(frozen=True)
class Attempt:
    """A source of the exercise's file, and what it should come to."""

    name: str
    source: str
    expected: Judge


def passed(result: Result) -> bool:
    """Say whether nothing is wrong."""
    return result.outcome is Outcome.PASSED and result.score == result.max_score


def unwritten(result: Result) -> bool:
    """Say whether the hole was found empty."""
    return result.outcome is Outcome.NOT_WRITTEN


def names(mistake: str) -> Judge:
    """Return what says whether points were lost, and to this mistake."""

    def judge(result: Result) -> bool:
        named = (result.as_json()["mistake"] or "").split("|")
        return result.score != result.max_score and mistake in named

    return judge


def alone(course: Course, exercise_id: str) -> Course:
    """Return a course that has one exercise only.

    Raises:
        KeyError: there is no such exercise, or it has no probes.
    """
    exercise = {one.id: one for one in course.assignment.exercises if one.probes}[exercise_id]
    return dataclasses.replace(
        course,
        assignment=dataclasses.replace(course.assignment, exercises=(exercise,)),
        variants=tuple(one for one in course.variants if one.exercise == exercise.id),
        honest=tuple(one for one in course.honest if one.module == exercise.module),
        common=frozenset(),
        seen={},
    )


def attempts(course: Course) -> Iterator[Attempt]:
    """Yield what a course of one exercise is tried with."""
    (exercise,) = course.assignment.exercises
    source = course.sources()[exercise.module]
    yield Attempt("solution", source, passed)
    yield Attempt("starter", derive(course.assignment)[exercise.file], unwritten)
    for one in course.honest:
        yield Attempt(f"honest {one.id}", one.apply(source), passed)
    for variant in course.variants:
        yield Attempt(f"mistake {variant.id}", apply(variant, source), names(variant.name))


def results(course: Course, folder: Path, seed: int = SEED) -> Iterator[tuple[Attempt, Result]]:
    """Record a course of one exercise into a folder, and yield what each attempt came to."""
    record(course, folder, seed, False, CHECKPOINT)
    assignment, settings, references = course.assignment, Settings(), References(folder)
    (exercise,) = assignment.exercises
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
    return f"{mark} {attempt.name:40} {result.outcome:16} {points:>7}   {said}".rstrip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Try an exercise of this repository."""
    parser = argparse.ArgumentParser(prog="try", description=__doc__.split("\n")[0])
    parser.add_argument("id", help="of the exercise, such as layer_norm")
    name = parser.parse_args(arguments).id
    wrong = 0
    try:
        course = alone(minbert(), name)
    except KeyError:
        print(f"try: ID={name}: there is no exercise of this name that has probes", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory() as folder:
            for attempt, result in results(course, Path(folder)):
                print(line(attempt, result), flush=True)
                wrong += not attempt.expected(result)
    except (RecordError, MarkerError, ToleranceError, VariantError, OSError) as error:
        print(f"try: {error}", file=sys.stderr)
        return 2
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
