"""Fingerprints tell answers apart, at a bounded cost."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tensormark.exercise import Call, Probe
from tensormark.judging.fingerprints import (
    MAX_VALUES,
    MISSING,
    NOT_FINITE,
    RAISED,
    SUMS,
    AnsweredCall,
    Observation,
    fingerprints,
    form,
    observe,
    of_tensor,
    projections,
    side_effects,
)
from tensormark.references import Recording
from tensormark.sandbox.interface import Reply
from tensormark.toolkit.statistics import Statistic, Statistics

X = np.arange(6.0).reshape(2, 3)
LARGE = np.ones(MAX_VALUES + 1)
EMPTY = np.zeros((0, 3))
CALL = Call("Layer.forward", ("x",), "main")
PROBE = Probe("output", "values", "it is wrong", (CALL,))
MEAN = [Statistic("the mean", 2.5)]
RANDOM_PROBE = replace(PROBE, examine=Statistics(MEAN, lambda out, _: [out["output"].mean()]))
NAMES = ["out/output"]


def answer(output: np.ndarray | None = X, **message: Any) -> Reply:
    tensors = {} if output is None else {"out/output": output}
    return Reply("ok", "", {"changed": [], **message}, tensors)


def fingerprint(reply: Reply, probe: Probe = PROBE, names: Sequence[str] = NAMES) -> np.ndarray:
    return fingerprints(probe, CALL, names, {"x": X}, reply)


# --- of a tensor --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (None, [MISSING]),
        (X * np.nan, [NOT_FINITE, form(X)]),
        (LARGE, [form(LARGE)]),
        (EMPTY, [form(EMPTY)]),
    ],
    ids=["missing", "nothing finite", "too large", "empty"],
)
def test_a_tensor_without_sums_has_a_code(array: np.ndarray | None, expected: list[float]) -> None:
    assert of_tensor("out/output", array).tolist() == [*expected, *[0.0] * SUMS][: 1 + SUMS]


def test_tensors_differ_by_which_values_are_not_finite_but_not_by_their_kind() -> None:
    def with_value(place: int, value: float) -> list[float]:
        return of_tensor("out/output", np.where(np.arange(6) == place, value, 1.0)).tolist()

    assert len({with_value(place, np.nan)[0] for place in range(6)} - {form(np.ones(6))}) == 6
    assert with_value(0, np.inf) == with_value(0, np.nan)
    assert with_value(0, np.nan)[1:] == with_value(0, 0.0)[1:]


def test_sums_depend_on_the_name_but_do_not_grow_with_the_size() -> None:
    sums = of_tensor("out/output", LARGE[1:])[1:]

    assert 0 < np.abs(sums).max() < 5
    assert not np.isclose(of_tensor("out/other", LARGE[1:])[1:], sums).any()


def test_values_of_a_form_that_was_not_recorded_have_a_checksum_instead_of_sums() -> None:
    unknown = np.array([1.0])
    before = projections.cache_info().currsize

    first, again, other = (of_tensor("out/x", np.arange(700.0) + n, unknown) for n in (0, 0, 1))

    assert projections.cache_info().currsize == before
    assert first.tolist() == again.tolist()
    assert 0 <= first[1] != other[1] < 1 << 24


# --- of a reply ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "after", "message", "same"),
    [
        (X / 3, {"x": (X / 3).astype("f4")}, {}, True),
        (X * np.nan, {"x": X * np.nan}, {}, True),
        (X, {}, {"changed": None}, True),
        (X, {"x": X + 1}, {}, False),
        (np.ones((1, 3)), {"x": np.ones(3)}, {}, False),
        (X, {"x": X, "y": X}, {}, False),
        (X, {}, {"changed": ["seed"]}, False),
    ],
)
def test_changes_of_inputs_and_of_the_state_are_side_effects(
    sent: np.ndarray, after: dict[str, np.ndarray], message: dict[str, Any], same: bool
) -> None:
    tensors = {f"after/{name}": value for name, value in after.items()}
    effects = side_effects({"x": sent}, replace(answer(**message), tensors=tensors))

    assert (effects == side_effects({"x": sent}, answer())) is same


def test_the_fingerprint_of_an_exception_is_its_message_without_the_line() -> None:
    def raised(text: str, unabridged: str | None = None) -> list[list[float]]:
        return fingerprint(Reply("error", text, unabridged=unabridged)).tolist()

    first = raised("raised A: x (main.py, line 7)")

    assert [code for code, *_ in first] == [RAISED, RAISED]
    assert first == raised("raised A: x (main.py, line 8)") == raised("raised A: x")
    assert first == raised("raised A", "raised A: x (main.py, line 9)")
    assert first != raised("raised B: x (main.py, line 7)")


def test_a_random_answer_is_recognized_by_its_statistics_and_side_effects() -> None:
    first = fingerprint(answer(), RANDOM_PROBE)

    assert first[0].tolist() == [form(X), 2.5, 0.0, 0.0, 0.0]
    assert first.tolist() == fingerprint(answer(X[::-1]), RANDOM_PROBE).tolist()
    assert first.tolist() == fingerprint(answer(), RANDOM_PROBE, ["grad/x", *NAMES]).tolist()
    assert first[1, 0] != fingerprint(answer(changed=["seed"]), RANDOM_PROBE)[1, 0]
    raised = fingerprint(Reply("error", "no"), RANDOM_PROBE, [*NAMES, "out/second"])
    assert raised.shape == first.shape


@pytest.mark.parametrize(
    ("output", "entry"),
    [
        (None, [MISSING, 0.0]),
        (EMPTY, [form(EMPTY), 0.0]),
        (LARGE, [form(LARGE), 0.0]),
        (LARGE[1:], [form(LARGE[1:]), 1.0]),
        (np.full((2, 3), 1.7e308), [form(X), np.inf]),
    ],
    ids=["missing", "empty", "too large", "largest", "overflow"],
)
def test_random_answers_are_measured_if_they_have_values_and_are_not_too_large(
    output: np.ndarray | None, entry: list[float]
) -> None:
    assert fingerprint(answer(output), RANDOM_PROBE)[0, :2].tolist() == entry


@pytest.mark.parametrize("error", [ValueError, KeyError, IndexError, TypeError])
def test_statistics_that_do_not_fit_the_shape_leave_the_form(error: type[Exception]) -> None:
    def read(out: Any, _: Any) -> list[float]:
        raise error

    probe = replace(PROBE, examine=Statistics(MEAN, read))

    assert fingerprint(answer(), probe)[0].tolist() == [form(X), *[0.0] * SUMS]


# --- beside those of the variants ---------------------------------------------------------------

LIMITS = {"outputs": 0.1, "gradients": 0.2, "float64": 0.3}
ENTRY = {"tolerance": {kind: {"rtol": 0.0, "atol": limit} for kind, limit in LIMITS.items()}}


def observation(reply: Reply, probe: Probe = PROBE, **fields: Any) -> Observation:
    recording = Recording({"x": X}, {"output": X}, {"x": X}, np.zeros((2, 3, 1 + SUMS)))
    return observe(AnsweredCall(probe, replace(CALL, **fields), recording, reply), ENTRY)


def test_an_answer_is_observed_beside_the_variants_with_the_tolerance_of_each_tensor() -> None:
    seen = observation(answer(drew=True), train=True)

    assert (seen.training, seen.drew, seen.outputs) == (True, True, {"out/output": 1})
    assert seen.allowed[:, :2].tolist() == [[0.0, 0.2], [0.0, 0.1], [0.0, 0.0]]
    assert observation(answer(), dtype="float64").allowed[:, 1].tolist() == [0.3, 0.3, 0.0]


def test_a_random_answer_has_no_outputs_to_compare_between_modes() -> None:
    seen = observation(answer(), RANDOM_PROBE)

    assert (seen.outputs, seen.drew) == ({}, False)
    assert seen.allowed.tolist() == [[0.0, 0.03, 0.0, 0.0, 0.0], [0.0] * 5]


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"train": True}, True),
        ({"target": "Layer.other"}, False),
        ({"args": ("x", "y")}, False),
        ({"inputs": "other"}, False),
        ({"dtype": "float64"}, False),
        ({"stand_ins": {"f": "g"}}, False),
    ],
)
def test_calls_with_the_same_inputs_in_two_modes_are_twins(
    fields: dict[str, Any], same: bool
) -> None:
    assert (observation(answer(), **fields).inputs == observation(answer()).inputs) is same


@pytest.mark.parametrize(
    ("output", "is_compared"),
    [
        (X, True),
        (np.ones((2, 3)), False),
        (EMPTY, False),
        (np.ones(1), True),
        (np.zeros(1), False),
        (np.arange(MAX_VALUES + 1), False),
        (None, False),
    ],
)
def test_equal_values_in_eval_mode_are_not_compared_with_training(
    output: np.ndarray | None, is_compared: bool
) -> None:
    assert bool(observation(answer(output)).outputs) is is_compared
    assert observation(answer(output), train=True).outputs
