"""Mistakes that any function can have: what one answer tells without known mistakes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tensormark.exercise import Probe
from tensormark.judging.checks import judge
from tensormark.judging.general import _shape
from tensormark.result import Finding
from tensormark.sandbox.interface import Reply

from trials import ENTRY, OUT, OWN, STATE, X, exercise, reply, trial

UNKNOWN = ENTRY | {"rows": ["the solution"], "variants": {}}
VALUES = Probe("output", "values", "the output is wrong", (OWN,))


def found_in(answer: Reply, **probe: Any) -> Finding:
    of = exercise("layer", replace(VALUES, **probe))
    entry = UNKNOWN | {"rows": ENTRY["rows"], "variants": ENTRY["variants"]}
    return judge(trial(answer, of=of, entry=entry)).findings[0]


def changing(name: str, **more: Any) -> Reply:
    state = {"before": {**STATE, name: 0}, "after": {**STATE, name: 1}}
    return replace(reply(**more), message={**reply().message, **state})


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (reply(OUT + 0.5), None),
        (reply(OUT.T + 0.5), "axes_exchanged"),
        (reply(OUT.ravel() + 0.5), "axes_merged"),
        (reply(OUT[:1] + 0.5), None),
        (reply(OUT[0] + 0.5), "axis_missing"),
        (reply(np.full((4,), 0.5)), None),
        (Reply("ok", "", reply().message, {"out/output": OUT.astype("f2")}), "other_type"),
        (
            reply(None, "error", "Layer.forward should return a tensor, got None"),
            "returns_something_else",
        ),
        (reply(None, "error", "raised ValueError: should return"), None),
        (changing("the model's training mode"), "mode_changed"),
        (changing("the model's weights", output=OUT + 0.5), "weights_changed"),
        (changing("the random seed"), "seeded"),
        (reply(tensors={"after/x": X + 1}), "input_changed"),
        (changing("the random seed", output=OUT + 0.5), None),
        (changing("the model's training mode", output=OUT + 0.5), None),
    ],
)
def test_what_one_answer_tells(answer: Reply, name: str | None) -> None:
    assert found_in(answer).mistake == name


@pytest.mark.parametrize("answer", [reply(OUT + 0.5), reply(OUT[:1])])
def test_a_second_call_that_is_wrong_shows_that_something_is_kept(answer: Reply) -> None:
    assert found_in(answer, name="second call").mistake == "kept_from_a_call"


def test_the_mode_explains_what_is_wrong_in_training_only() -> None:
    training = replace(OWN, train=True)

    found = found_in(changing("the model's training mode", output=OUT + 0.5), calls=(training,))

    assert found.mistake == "mode_changed"


def test_of_nan_in_training_the_claim_of_a_check_is_not_repeated() -> None:
    training, nan = replace(OWN, train=True), np.full_like(OUT, np.nan)

    says = "in training mode, the output has values that are NaN or inf"
    assert found_in(reply(nan), calls=(training,)).headline == says
    assert found_in(reply(nan)).headline == VALUES.says


@pytest.mark.parametrize(
    ("off", "name"), [(1e-4, "less_precise"), (0.5, "some_sizes"), (1e-2, "some_sizes")]
)
def test_types_are_told_from_sizes_by_how_far_the_output_is_off(off: float, name: str) -> None:
    double = replace(OWN, dtype="float64")
    answer = Reply("ok", "", reply().message, {"out/output": OUT + off})

    assert found_in(answer, name="other sizes", calls=(double,)).mistake == name


@pytest.mark.parametrize(
    ("got", "expected", "says"),
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
    got: tuple[int, ...], expected: tuple[int, ...], says: str | None
) -> None:
    general = _shape(got, expected)

    assert (general is None) is (says is None)
    assert general is None or general.says.startswith(says or "")
