"""A sample of what is recorded, recorded again; `make nightly` records all of it."""

import dataclasses

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import Course
from tensormark.authoring.earlier import previous_record
from tensormark.authoring.recorder import Recorder
from tensormark.authoring.try_exercise import alone
from tensormark.grading import program_of
from tensormark.judging.diagnose import PAIR
from tensormark.sandbox.process import ProcessSandbox
from tensormark.settings import Settings

from conftest import ROOT
from known import COURSE


def sample(course: Course) -> Course:
    """Return an exercise's course with a mistake of each of its sections, and what is common."""
    first = {variant.section: variant for variant in reversed(course.variants)}
    common = [one for one in course.variants if one.id in course.staff.common]
    chosen = tuple(one for one in course.variants if one in (*first.values(), *common[:2]))
    return dataclasses.replace(course, variants=chosen, honest=())


def is_of_the_sample(change: str) -> bool:
    """Say whether a change is none that only comes from recording less than all rows."""
    name, _, what = change.partition(": ")
    return what != "a row is gone" and not (what == "a new row" and PAIR in name)


@pytest.mark.parametrize("exercise", [one.id for one in ASSIGNMENT.exercises if one.probes])
def test_a_sample_of_each_exercise_recorded_again_has_not_moved(exercise: str) -> None:
    course = sample(alone(COURSE, exercise))
    (one,) = course.assignment.exercises
    program = program_of(course.assignment, [one], course.sources(), Settings.of(ROOT))
    known = previous_record(ROOT / "reference_outputs", one)
    with ProcessSandbox(program) as sandbox:
        found = Recorder(course, sandbox, ASSIGNMENT.seed).record(one, known)

    assert len(found.rows) > len(course.variants)
    assert [line for line in found.changes if is_of_the_sample(line)] == []
