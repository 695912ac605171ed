"""Try one exercise while it is being written: `tensormark try ID`.

The exercise alone is recorded into a temporary folder, with which the solution, the empty hole, the
honest variants of its file and every known mistake are graded. This takes seconds, where recording
everything takes minutes. For a task, the solution and the starter are graded with the public
references, because it needs what was measured for it. Nothing is written.

Each result is one line; a line whose result is wrong begins with `!`. If there is such a line, the
exit status is 1.
"""

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensormark.authoring.course import Course, open_course
from tensormark.authoring.prove import Bench, Claim, claims
from tensormark.authoring.record import record
from tensormark.folder import open_assignment
from tensormark.result import Result
from tensormark.settings import Settings
from tensormark.usage import UserError, option, parser


def alone(course: Course, exercise_id: str) -> Course:
    """Return a course with only one of its exercises.

    Raises:
        KeyError: there is no such exercise.
    """
    exercise = course.assignment.exercise(exercise_id)
    return dataclasses.replace(
        course,
        assignment=dataclasses.replace(course.assignment, exercises=(exercise,)),
        variants=tuple(variant for variant in course.variants if variant.exercise == exercise.id),
        honest=tuple(
            honest
            for honest in course.honest
            if honest.module == exercise.module and exercise.probes
        ),
        staff=dataclasses.replace(course.staff, common=frozenset(), seen={}),
    )


def results(
    course: Course, folder: Path, seed: int | None = None
) -> Iterator[tuple[Claim, Result]]:
    """Record a course of one exercise into a folder, and yield the result of each claim.

    Raises:
        ReferencesError: the exercise is a task, and there are no public references.
    """
    assignment = course.assignment
    (exercise,) = assignment.exercises
    settings = Settings.of(assignment.folder)
    if exercise.task is None:
        settings = dataclasses.replace(settings, references=folder)
        seed = assignment.seed if seed is None else seed
        record(course, folder, seed, False, settings.checkpoint)
    with contextlib.closing(Bench(course, settings, assignment.exercises)) as bench:
        for claim in claims(course):
            yield claim, bench.results(claim.sources(), claim.tasks)[exercise.id]


def _line(claim: Claim, result: Result) -> str:
    fault = claim.fault({result.id: result})
    name = claim.name.replace("[", " ").removesuffix("]")
    points = f"{result.score or 0:g}/{result.max_score:g}"
    message = fault or (result.findings[0].headline if result.findings else "")
    return f"{'!' if fault else ' '} {name:40} {result.outcome:16} {points:>7}   {message}".rstrip()


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Try an exercise."""
    command_line = parser(
        name, "Try one exercise: the solution passes, and each known mistake is named."
    )
    command_line.add_argument("id", help="id of the exercise, such as layer_norm")
    exercise = command_line.parse_args(arguments).id
    wrong = 0
    try:
        course = alone(open_course(open_assignment(folder)), exercise)
    except KeyError:
        given = option("id", exercise)
        raise UserError(f"{given}: there is no such exercise") from None
    with tempfile.TemporaryDirectory() as scratch:
        for claim, result in results(course, Path(scratch)):
            text = _line(claim, result)
            print(text, flush=True)
            wrong += text.startswith("!")
    return 1 if wrong else 0
