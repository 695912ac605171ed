"""With private references no report holds an expected value, unless the instructor asks for it."""

import json
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from grader.assignment import ASSIGNMENT
from grader.locate import locate
from tensormark.references import References
from tensormark.reports import github, html, platforms
from tensormark.result import Grade
from tensormark.sandbox.interface import Request
from tests.helpers.scripted_worker import Answer, Right, reported

VALUE = re.compile(r"\d+\.\d{4}")  # as a line of a report has it
FORMATS = (html.page, platforms.gradescope, github.summary, json.dumps)


def reports(grade: Grade) -> str:
    """Return every report of a grade."""
    model = grade.as_json()
    return reported(grade) + "".join(write(model) for write in FORMATS)


def at_a_place(value: np.ndarray) -> np.ndarray:
    result = value.copy()
    result.ravel()[value.size // 2] = 1e4
    return result


def not_a_number(value: np.ndarray) -> np.ndarray:
    result = value.copy()
    result.ravel()[-1] = np.nan
    return result


WRONG: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "at a place": at_a_place,
    "off by the same amount": lambda value: value + 0.25,
    "zero": np.zeros_like,
    "not a number": not_a_number,
    "another shape": lambda value: value[None],
    "in another order": lambda value: np.flip(value, -1) if value.ndim else -value,
}


def wrong(right: Right, spoil: Callable[[np.ndarray], np.ndarray]):
    """Return a function that makes every tensor of every answer wrong."""

    def change(request: Request, answer: Answer) -> Answer:
        if "kind" not in request.call or request.exercise == "sentiment":
            return answer
        number = json.loads(answer.message)["number"]
        tensors = right.tensors[id(request.tensors)]
        results = {n: spoil(v) if v.dtype.kind == "f" else v + 1 for n, v in tensors.items()}
        results = {n: np.ascontiguousarray(v, tensors[n].dtype) for n, v in results.items()}
        return Answer.of(number, results, drew=False, imported=[])

    return change


def expected(right: Right) -> Iterator[str]:
    """Yield every value of the references as reports write it."""
    for exercise in (exercise for exercise in ASSIGNMENT.exercises if exercise.probes):
        for recording in right.references.recordings(exercise.id, exercise.digest):
            for values in (recording.outputs, recording.gradients):
                for value in values.values():
                    yield from (f"{abs(v):.4f}" for v in value.ravel() if value.dtype.kind == "f")


@pytest.fixture(scope="module")
def right() -> Right:
    return Right()


@pytest.fixture(scope="module")
def reference_values(right: Right) -> frozenset[str]:
    """The values of the references as reports write them, without common ones."""
    return frozenset(value for value in expected(right) if float(value) % 0.05)


@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG)
def test_no_report_holds_a_value_of_a_private_reference(
    right: Right, reference_values: frozenset[str], spoil, monkeypatch
) -> None:
    monkeypatch.setattr(References, "private", True)

    grade = right.grade(wrong(right, spoil))

    assert grade.score < 30
    text = reports(grade)
    assert reference_values.intersection(VALUE.findall(text)) == set()
    assert not re.search(r"expected [^ ]+, got|allowed difference|off by -?\d", text)
    assert all(f.excerpt is None for result in grade.results for f in result.findings)


def test_the_place_of_a_wrong_value_is_still_reported(right: Right, monkeypatch) -> None:
    monkeypatch.setattr(References, "private", True)

    attention = right.grade(wrong(right, at_a_place), [ASSIGNMENT.exercise("attention")]).results[0]

    assert re.match(r"1 of \d+ values of output differ, worst at", attention.findings[0].details[0])


def test_public_references_show_expected_values(
    right: Right, reference_values: frozenset[str]
) -> None:
    text = reports(right.grade(wrong(right, at_a_place)))

    assert reference_values.intersection(VALUE.findall(text))
    assert "got 10000.0000, allowed difference" in text


def test_an_instructor_who_asks_for_texts_gets_the_values_too(
    reference_values: frozenset[str], monkeypatch
) -> None:
    asking = Right(show_text=True)
    monkeypatch.setattr(References, "private", True)

    text = reports(asking.grade(wrong(asking, at_a_place)))

    assert reference_values.intersection(VALUE.findall(text))


def test_the_size_of_a_constant_difference_is_not_reported() -> None:
    values = np.linspace(-2.0, 2.0, 24).reshape(2, 3, 4)

    assert locate(values + 0.25, values, {}) == "every value is off by the same amount"


def test_losses_of_a_submission_that_saw_private_sentences_are_not_drawn(
    right: Right, monkeypatch
) -> None:
    monkeypatch.setattr(References, "private", True)
    exercises = [ASSIGNMENT.exercise(name) for name in ("attention", "embed", "sentiment")]
    mistaken = wrong(right, at_a_place)

    def change(request: Request, answer: Answer) -> Answer:
        return mistaken(request, answer) if request.exercise == "attention" else answer

    grades = right.grade(change, exercises), right.grade(exercises=exercises)

    curves = [grade.as_json()["exercises"][2]["measured"]["curves"] for grade in grades]
    assert [len(lines) for lines in curves] == [0, 1]
