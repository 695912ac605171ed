"""Tests of mistakes that any function can have, which one answer shows without a recorded row."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tensormark.judging.general import of_shape
from tensormark.result import Finding
from tensormark.sandbox.interface import Reply
from testkit.trials import OUTPUT, OWN_CALL, VALUES, X, finding, make_exercise, reply, trial

OFF = OUTPUT + 0.5
MODE = "the model's training mode"
IN_TRAINING = {"calls": (replace(OWN_CALL, train=True),)}
SECOND_CALL = {"name": "second call"}
FLOAT64 = {"name": "other sizes", "calls": (replace(OWN_CALL, dtype="float64"),)}


def problem_in(answer: Reply, **probe: Any) -> Finding:
    own = {"calls": (OWN_CALL,), **probe}
    return finding(trial(answer, exercise=make_exercise("layer", replace(VALUES, **own))))


def in_type(output: np.ndarray, dtype: str) -> Reply:
    return replace(reply(), tensors={"out/output": output.astype(dtype)})


@pytest.mark.parametrize(
    ("answer", "probe", "name"),
    [
        (reply(OFF), {}, None),
        (reply(OUTPUT[:1] + 0.5), {}, None),
        (reply(np.full((4,), 0.5)), {}, None),
        (reply(None, "error", "raised ValueError: should return"), {}, None),
        (reply(changed=[MODE]), {}, "mode_changed"),
        (reply(OFF, changed=[MODE]), {}, None),
        (reply(OFF, changed=[MODE]), IN_TRAINING, "mode_changed"),
        (reply(OFF, changed=["the random seed"]), {}, None),
        (reply(tensors={"after/x": X + 1}), {}, "input_changed"),
        (reply(OUTPUT[:1]), SECOND_CALL, "kept_from_a_call"),
        # types are told from sizes by how far the output is off
        (in_type(OUTPUT + 1e-4, "f8"), FLOAT64, "less_precise"),
        (in_type(OUTPUT + 1e-2, "f8"), FLOAT64, "some_sizes"),
    ],
)
def test_one_answer_can_show_a_general_mistake(
    answer: Reply, probe: dict[str, Any], name: str | None
) -> None:
    assert problem_in(answer, **probe).mistake == name


def test_nan_in_training_has_a_headline_of_its_own() -> None:
    nan = reply(np.full_like(OUTPUT, np.nan))

    assert problem_in(nan, **IN_TRAINING).headline != problem_in(nan).headline == VALUES.says


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
