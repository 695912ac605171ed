"""With private references no report holds an expected value, unless the instructor asks for it."""

import json
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from grader.assignment import ASSIGNMENT
from tensormark.references import References
from tensormark.reports import github, html, platforms
from tensormark.result import Grade
from tensormark.sandbox.interface import Request
from tests.helpers.scripted_worker import Answer, Right, reported

VALUE = re.compile(r"\d+\.\d{4}")  # as a line of a report has it
Spoil = Callable[[np.ndarray], np.ndarray]


def reports(grade: Grade) -> str:
    """Return every report of a grade."""
    model = grade.as_json()
    forms = (html.page, platforms.gradescope, github.summary, json.dumps)
    return reported(grade) + "".join(write(model) for write in forms)


def at_a_place(value: np.ndarray) -> np.ndarray:
    result = value.copy()
    result.ravel()[value.size // 2] = 1e4
    return result


WRONG: dict[str, Spoil] = {
    "at a place": at_a_place,
    "off by the same amount": lambda value: value + 0.25,
    "not a number": lambda value: np.where(value == value.max(), np.nan, value),
    "another shape": lambda value: value[None],
    "in another order": lambda value: np.flip(value, -1) if value.ndim else -value,
}


def wrong(right: Right, spoil: Spoil):
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
            for value in (*recording.outputs.values(), *recording.gradients.values()):
                yield from (f"{abs(v):.4f}" for v in value.ravel() if value.dtype.kind == "f")


@pytest.fixture(scope="module")
def right() -> Right:
    return Right()


@pytest.fixture(scope="module")
def values(right: Right) -> frozenset[str]:
    """The values of the references as reports write them, without common ones."""
    return frozenset(value for value in expected(right) if float(value) % 0.05)


@pytest.mark.parametrize("spoil", WRONG.values(), ids=WRONG)
def test_no_report_holds_a_value_of_a_private_reference(
    right: Right, values: frozenset[str], spoil: Spoil, monkeypatch
) -> None:
    monkeypatch.setattr(References, "private", True)

    grade = right.grade(wrong(right, spoil))

    text = reports(grade)
    assert grade.score < 30
    assert values.intersection(VALUE.findall(text)) == set()
    assert not re.search(r"expected [^ ]+, got|allowed difference|off by -?\d", text)
    assert all(f.excerpt is None for result in grade.results for f in result.findings)


@pytest.mark.parametrize("private", [False, True])
def test_expected_values_are_shown_of_public_references_and_where_they_are_asked_for(
    values: frozenset[str], private: bool, monkeypatch
) -> None:
    asking = Right(show_text=private)
    monkeypatch.setattr(References, "private", private)

    text = reports(asking.grade(wrong(asking, at_a_place)))

    assert values.intersection(VALUE.findall(text))
