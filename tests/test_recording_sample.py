"""A sample of the references, recorded again; `make nightly` records all of them."""

import dataclasses
from typing import Any

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import Course
from tensormark.authoring.earlier import previous_record
from tensormark.authoring.recorder import Recorder
from tensormark.authoring.try_exercise import alone
from tensormark.grading import program_of
from tensormark.judging.diagnose import PAIR
from tensormark.sandbox.interface import Reply
from tensormark.sandbox.process import ProcessSandbox
from tensormark.settings import Settings
from tests.helpers import ROOT
from tests.helpers.known import COURSE


def sample(course: Course) -> Course:
    """Return an exercise's course with a mistake of each of its sections and two common ones."""
    first = {variant.section: variant for variant in reversed(course.variants)}
    common = [variant for variant in course.variants if variant.id in course.staff.common]
    chosen = tuple(
        variant for variant in course.variants if variant in (*first.values(), *common[:2])
    )
    return dataclasses.replace(course, variants=chosen, honest=())


def is_of_the_sample(change: str) -> bool:
    """Say whether a change is more than a consequence of recording only some of the rows."""
    name, _, what = change.partition(": ")
    return what != "a row is gone" and not (what == "a new row" and PAIR in name)


def record_again(course: Course, kind: type[Recorder] = Recorder) -> tuple[list[str], list[str]]:
    """Return the names of the rows of a course's only exercise, and what has changed in them."""
    (exercise,) = course.assignment.exercises
    program = program_of(course.assignment, [exercise], course.sources(), Settings.of(ROOT))
    previous = previous_record(ROOT / "reference_outputs", exercise)
    with ProcessSandbox(program) as sandbox:
        result = kind(course, sandbox, ASSIGNMENT.seed).record(exercise, previous)
    return result.rows, list(filter(is_of_the_sample, result.changes))


def only(exercise: str) -> Course:
    """Return the course of one exercise, in which pairs of mistakes are recorded too."""
    return dataclasses.replace(alone(COURSE, exercise), staff=COURSE.staff)


@pytest.mark.parametrize("exercise", [case.id for case in ASSIGNMENT.exercises if case.probes])
def test_a_sample_of_each_exercise_recorded_again_has_not_moved(exercise: str) -> None:
    course = sample(only(exercise))

    names, changes = record_again(course)

    assert len(names) > len(course.variants)
    assert changes == []


@pytest.mark.parametrize(
    "together",
    [
        ("axes_misread", "attention_dropout_always"),  # draws an output of another shape
        ("no_scale", "heads_not_transposed", "mask_multiplied"),
    ],
)
def test_mistakes_made_together_have_not_moved(together: tuple[str, ...]) -> None:
    course = only("attention")
    chosen = tuple(variant for variant in course.variants if variant.name in together)

    names, changes = record_again(dataclasses.replace(course, variants=chosen, honest=()))

    assert PAIR.join(together) in names
    assert changes == []


class OtherDraws(Recorder):
    """Records as on a machine where the same seed draws other numbers."""

    def ask(self, *arguments: Any, **overrides: Any) -> list[Reply]:
        return super().ask(*arguments, **overrides | {"seed": overrides.get("seed", 0) + 100})


@pytest.mark.parametrize("exercise", ["embed", "make_sentence_pairs"])
def test_where_a_seed_draws_other_numbers_nothing_has_moved(exercise: str) -> None:
    course = dataclasses.replace(alone(COURSE, exercise), honest=())

    _, changes = record_again(course, OtherDraws)

    assert changes == []
