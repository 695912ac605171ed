"""Tests of mistakes that any function can have, which one answer shows without a recorded row."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tensormark.exercise import Probe
from tensormark.judging.general import of_shape
from tensormark.result import Finding
from tensormark.sandbox.interface import Reply
from trials import OUTPUT, OWN_CALL, X, finding, make_exercise, reply, trial

VALUES = Probe("output", "values", "the output is wrong", (OWN_CALL,))


def problem_in(answer: Reply, **probe: Any) -> Finding:
    return finding(trial(answer, exercise=make_exercise("layer", replace(VALUES, **probe))))


def reply_that_changes(name: str, **more: Any) -> Reply:
    return reply(**more, changed=[name])


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (reply(OUTPUT + 0.5), None),
        (reply(OUTPUT.T + 0.5), "axes_exchanged"),
        (reply(OUTPUT.ravel() + 0.5), "axes_merged"),
        (reply(OUTPUT[:1] + 0.5), None),
        (reply(OUTPUT[0] + 0.5), "axis_missing"),
        (reply(np.full((4,), 0.5)), None),
        (Reply("ok", "", reply().message, {"out/output": OUTPUT.astype("f2")}), "other_type"),
        (
            reply(None, "error", "Layer.forward should return a tensor, got None"),
            "returns_something_else",
        ),
        (reply(None, "error", "raised ValueError: should return"), None),
        (reply_that_changes("the model's training mode"), "mode_changed"),
        (reply_that_changes("the model's weights", output=OUTPUT + 0.5), "weights_changed"),
        (reply_that_changes("the random seed"), "seeded"),
        (reply(tensors={"after/x": X + 1}), "input_changed"),
        (reply_that_changes("the random seed", output=OUTPUT + 0.5), None),
        (reply_that_changes("the model's training mode", output=OUTPUT + 0.5), None),
    ],
)
def test_one_answer_can_show_a_general_mistake(answer: Reply, name: str | None) -> None:
    assert problem_in(answer).mistake == name


@pytest.mark.parametrize("answer", [reply(OUTPUT + 0.5), reply(OUTPUT[:1])])
def test_a_wrong_second_call_shows_that_something_is_kept(answer: Reply) -> None:
    assert problem_in(answer, name="second call").mistake == "kept_from_a_call"


def test_the_mode_explains_what_is_wrong_only_in_training() -> None:
    training_call = replace(OWN_CALL, train=True)

    problem = problem_in(
        reply_that_changes("the model's training mode", output=OUTPUT + 0.5), calls=(training_call,)
    )

    assert problem.mistake == "mode_changed"


def test_nan_in_training_has_a_headline_of_its_own() -> None:
    training_call = replace(OWN_CALL, train=True)
    nan = np.full_like(OUTPUT, np.nan)

    text = "in training mode, the output has values that are NaN or inf"
    assert problem_in(reply(nan), calls=(training_call,)).headline == text
    assert problem_in(reply(nan)).headline == VALUES.says


@pytest.mark.parametrize(
    ("error", "name"), [(1e-4, "less_precise"), (0.5, "some_sizes"), (1e-2, "some_sizes")]
)
def test_types_are_told_from_sizes_by_how_far_the_output_is_off(error: float, name: str) -> None:
    float64_call = replace(OWN_CALL, dtype="float64")
    answer = Reply("ok", "", reply().message, {"out/output": OUTPUT + error})

    assert problem_in(answer, name="other sizes", calls=(float64_call,)).mistake == name


PRECISE = np.linspace(0.1, 0.9, 6).reshape(2, 3)
HALF = PRECISE.astype("f2")


@pytest.mark.parametrize(
    ("got", "name"), [(HALF, "half_precision"), (PRECISE + 1e-3, None), (2 * HALF, None)]
)
def test_values_that_are_about_right_but_have_few_digits_are_half_precise(
    got: np.ndarray, name: str | None
) -> None:
    answers = trial(reply(got), exercise=make_exercise("layer", VALUES))
    answers.answered[0].recording.outputs["output"] = PRECISE

    assert finding(answers).mistake == name


@pytest.mark.parametrize(
    ("got", "expected", "text"),
    [
        ((3, 4), (1, 3, 4), "an axis of length 1 is lost"),
        ((4,), (1, 4, 1), "axes of length 1 are lost"),
        ((1, 4), (1, 4, 1), "an axis of length 1 is lost"),
        ((4,), (3, 4), "an axis of the output is missing"),
        ((10,), (3, 7, 10), "axes of the output are missing"),
        ((3, 70), (3, 7, 10), "axes of the output are merged into one"),
        ((210,), (3, 7, 10), "axes of the output are merged into one"),
        ((30, 7), (3, 7, 10), None),
        ((14, 15), (3, 7, 10), None),
        ((6, 35), (2, 3, 5, 7), None),
        ((1,), (3, 7, 10), None),
        ((1,), (1, 4, 6), None),
        ((7, 3, 10), (3, 7, 10), "the axes of the output have the right lengths, but are in the"),
        ((3, 7, 11), (3, 7, 10), None),
        ((3, 7, 10, 1), (3, 7, 10), None),
    ],
)
def test_a_wrong_shape_says_what_happened_to_the_axes(
    got: tuple[int, ...], expected: tuple[int, ...], text: str | None
) -> None:
    general = of_shape(got, expected)

    assert (general is None) is (text is None)
    assert general is None or general.says.startswith(text or "")
