"""Tests of mistakes that any function can have, which one answer shows without a recorded row."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tensormark.exercise import Call, Probe
from tensormark.judging.general import of_shape
from tensormark.result import Finding
from tensormark.sandbox.interface import Reply
from testkit.trials import OUTPUT, OWN_CALL, X, finding, make_exercise, reply, trial

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


TRAINING = (replace(OWN_CALL, train=True),)
FLOAT64 = (replace(OWN_CALL, dtype="float64"),)


@pytest.mark.parametrize(
    ("answer", "name", "calls", "mistake"),
    [
        (reply(OUTPUT + 0.5), "second call", VALUES.calls, "kept_from_a_call"),
        (reply(OUTPUT[:1]), "second call", VALUES.calls, "kept_from_a_call"),
        (
            reply_that_changes("the model's training mode", output=OUTPUT + 0.5),
            "output",
            TRAINING,
            "mode_changed",
        ),
        # types are told from sizes by how far the output is off
        (reply(OUTPUT + 1e-4), "other sizes", FLOAT64, "less_precise"),
        (reply(OUTPUT + 1e-2), "other sizes", FLOAT64, "some_sizes"),
    ],
)
def test_what_a_probe_changes_explains_a_wrong_answer_to_it(
    answer: Reply, name: str, calls: tuple[Call, ...], mistake: str
) -> None:
    outputs = {n: t.astype("f8") if calls is FLOAT64 else t for n, t in answer.tensors.items()}

    problem = problem_in(replace(answer, tensors=outputs), name=name, calls=calls)

    assert problem.mistake == mistake


def test_nan_in_training_has_a_headline_of_its_own() -> None:
    nan = np.full_like(OUTPUT, np.nan)

    text = "in training mode, the output has values that are NaN or inf"
    assert problem_in(reply(nan), calls=TRAINING).headline == text
    assert problem_in(reply(nan)).headline == VALUES.says


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
        ((4,), (3, 4), "an axis of the output is missing"),
        ((3, 70), (3, 7, 10), "axes of the output are merged into one"),
        ((30, 7), (3, 7, 10), None),
        ((1,), (3, 7, 10), None),
        ((7, 3, 10), (3, 7, 10), "the axes of the output have the right lengths, but are in the"),
        ((3, 7, 10, 1), (3, 7, 10), None),
    ],
)
def test_a_wrong_shape_says_what_happened_to_the_axes(
    got: tuple[int, ...], expected: tuple[int, ...], text: str | None
) -> None:
    general = of_shape(got, expected)

    assert (general is None) is (text is None)
    assert general is None or general.says.startswith(text or "")
