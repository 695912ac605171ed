"""Tests of the fingerprints of replies, and of what is observed beside those of the variants."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tensormark.exercise import Call, Probe
from tensormark.judging.compare import Tolerance
from tensormark.judging.fingerprints import (
    MAX_VALUES,
    MISSING,
    RAISED,
    SUMS,
    AnsweredCall,
    allowed,
    changed_state,
    fingerprints,
    form,
    observe,
    side_effects,
    tolerance_kind,
)
from tensormark.references import Recording
from tensormark.sandbox.interface import Reply
from tensormark.toolkit.statistics import Statistic, Statistics

X = np.arange(6.0).reshape(2, 3)
CALL = Call("Layer.forward", ("x",), "main")
PROBE = Probe("output", "values", "it is wrong", (CALL,))
MEAN = Statistics([Statistic("the mean", 2.5)], lambda out, _: [float(out["output"].mean())])
RANDOM_PROBE = replace(PROBE, examine=MEAN)
NAMES = ["out/output"]
STATE: dict[str, Any] = {"changed": []}


def reply_with(
    output: np.ndarray | None = X, status: str = "ok", text: str = "", **more: Any
) -> Reply:
    tensors = {} if output is None else {"out/output": output}
    return Reply(status, text, {**STATE, **more}, tensors)


def fingerprint(reply: Reply, probe: Probe = PROBE, rows: np.ndarray | None = None) -> np.ndarray:
    return fingerprints(probe, probe.calls[0], NAMES, {"x": X}, reply, rows)


def tolerance(name: str, call: Call) -> Tolerance:
    atol = {"outputs": 0.1, "gradients": 0.2, "float64": 0.3}[tolerance_kind(name, call)]
    return Tolerance(0.0, atol)


# --- of a reply ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "dtype", "kind"),
    [
        ("out/output", "float32", "outputs"),
        ("grad/x", "float32", "gradients"),
        ("grad/x", "float64", "float64"),
    ],
)
def test_each_tensor_has_a_tolerance(name: str, dtype: str, kind: str) -> None:
    assert tolerance_kind(name, replace(CALL, dtype=dtype)) == kind


@pytest.mark.parametrize(
    ("message", "changed"),
    [
        ({"changed": []}, []),
        ({"changed": ["a", 1]}, ["a", "1"]),
        ({}, None),
        ({"changed": 1}, None),
    ],
)
def test_a_worker_that_reports_no_list_of_changes_has_not_reported(
    message: dict[str, Any], changed: list[str] | None
) -> None:
    assert changed_state(Reply("ok", "", message)) == changed


WITH_NAN = np.array([np.nan, 1.0])


@pytest.mark.parametrize(
    ("sent", "after", "same"),
    [
        ({"x": X}, {"x": X}, True),
        ({"x": X}, {"x": X.astype("f4")}, True),
        ({"x": X / 3}, {"x": (X / 3).astype("f4")}, True),
        ({"x": WITH_NAN}, {"x": WITH_NAN}, True),
        ({"x": X}, {}, True),
        ({"x": X}, {"x": X + 1}, False),
        ({"x": np.ones((1, 3))}, {"x": np.ones(3)}, False),
        ({"x": X}, {"x": X, "y": X}, False),
    ],
)
def test_changed_inputs_are_side_effects(
    sent: dict[str, np.ndarray], after: dict[str, np.ndarray], same: bool
) -> None:
    tensors = {f"after/{name}": value for name, value in after.items()}
    effects = side_effects(sent, Reply("ok", "", STATE, tensors))

    assert (effects == side_effects(sent, reply_with())) == same
    assert 0 <= effects < 1 << 24


def test_an_unreported_state_is_not_a_side_effect() -> None:
    assert side_effects({}, Reply("ok", "", {}, {})) == side_effects({}, reply_with())


def test_side_effects_tell_changed_states_apart() -> None:
    changes: list[list[str]] = [[], ["seed"], ["mode"], ["seed", "mode"]]
    effects = [side_effects({}, reply_with(changed=changed)) for changed in changes]

    assert len(set(effects)) == len(changes)


def test_the_fingerprint_of_an_exception_is_its_message_without_the_line() -> None:
    line_7, line_8, other_exception = (
        fingerprint(reply_with(None, "error", f"raised {text}"))
        for text in ("A: x (main.py, line 7)", "A: x (main.py, line 8)", "B: x (main.py, line 7)")
    )
    abridged = reply_with(None, "error", "raised A")
    unabridged = replace(abridged, unabridged="raised A: x (main.py, line 9)")

    assert (line_7[:, 0] == RAISED).all()
    assert line_7.shape == (2, 1 + SUMS)
    assert (line_7[:, 1] >= 0).all()
    assert (line_7[:, 1] < 1 << 24).all()
    np.testing.assert_array_equal(line_7, line_8)
    np.testing.assert_array_equal(line_7, fingerprint(unabridged))
    np.testing.assert_array_equal(line_7, fingerprint(reply_with(None, "error", "raised A: x")))
    assert (line_7[:, 1] != other_exception[:, 1]).all()


def test_an_exception_of_a_random_call_has_the_entries_of_its_statistics() -> None:
    names = ["out/output", "out/second"]
    reply = reply_with(None, "error", "raised A")

    assert fingerprints(PROBE, CALL, names, {}, reply).shape[0] == 3
    assert fingerprints(RANDOM_PROBE, CALL, names, {}, reply).shape[0] == 2


def test_only_outputs_of_a_random_answer_are_measured() -> None:
    fingerprint_rows = fingerprints(RANDOM_PROBE, CALL, ["grad/x", *NAMES], {}, reply_with())

    np.testing.assert_array_equal(fingerprint_rows, fingerprint(reply_with(), RANDOM_PROBE))


def test_a_random_answer_is_recognized_by_its_statistics_and_side_effects() -> None:
    shuffled = fingerprint(reply_with(X[::-1]), RANDOM_PROBE)

    np.testing.assert_array_equal(fingerprint(reply_with(), RANDOM_PROBE), shuffled)
    assert shuffled[0, :2].tolist() == [form(X), 2.5]
    assert fingerprint(reply_with(X + 1), RANDOM_PROBE)[0, 1] == 3.5
    assert fingerprint(reply_with(changed=["seed"]), RANDOM_PROBE)[1, 0] != shuffled[1, 0]


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (None, MISSING),
        (np.zeros(0), form(np.zeros(0))),
        (np.zeros(MAX_VALUES + 1), form(np.zeros(MAX_VALUES + 1))),
    ],
    ids=["missing", "empty", "too large"],
)
def test_the_form_is_enough_for_a_random_answer_that_cannot_be_measured(
    output: np.ndarray | None, code: float
) -> None:
    assert fingerprint(reply_with(output), RANDOM_PROBE)[:, 0].tolist() == [
        code,
        fingerprint(reply_with())[1, 0],
    ]


@pytest.mark.parametrize(
    ("output", "mean"),
    [(np.ones(MAX_VALUES), 1.0), (np.ones(1), 1.0), (np.full((2, 3), 1.7e308), np.inf)],
    ids=["largest", "smallest", "overflow"],
)
def test_random_answers_up_to_the_bound_are_measured(output: np.ndarray, mean: float) -> None:
    assert fingerprint(reply_with(output), RANDOM_PROBE)[0, 1] == mean


@pytest.mark.parametrize("error", [ValueError, KeyError, IndexError, TypeError])
def test_statistics_that_do_not_fit_the_shape_leave_the_form(error: type[Exception]) -> None:
    def read(out: Any, _: Any) -> list[float]:
        raise error

    probe = replace(PROBE, examine=Statistics([Statistic("the mean", 2.5)], read))

    assert fingerprint(reply_with(), probe)[0].tolist() == [form(X), *[0.0] * SUMS]


# --- beside those of the variants ---------------------------------------------------------------


def test_an_answer_is_observed_beside_the_variants() -> None:
    recording = Recording({"x": X}, {"b": X, "a": X}, {"x": X}, np.zeros((2, 4, 1 + SUMS)))
    call = replace(CALL, train=True)
    tensors = {"out/a": X, "out/b": X + 1, "grad/x": X}
    reply = Reply("ok", "", {**STATE, "drew": True}, tensors)

    observation = observe(AnsweredCall(PROBE, call, recording, reply), tolerance)

    assert (observation.training, observation.drew, observation.outputs) == (
        True,
        True,
        {"out/a": 1, "out/b": 2},
    )
    assert observation.got.shape == (4, 1 + SUMS)
    assert (observation.got[:3, 0] == form(X)).all()
    assert (observation.got[:3, 1] % 1 == 0).all()  # checksums: no variant has this form
    assert observation.allowed[:, 0].tolist() == [0.0] * 4
    assert observation.allowed[:, 1].tolist() == [0.2, 0.1, 0.1, 0.0]


def test_calls_with_the_same_inputs_in_two_modes_are_twins() -> None:
    recording = Recording({"x": X}, {"output": X.astype("f4")}, {}, np.zeros((1, 2, 1 + SUMS)))

    def inputs_of(**fields: Any) -> str:
        call = replace(CALL, **fields)
        return observe(AnsweredCall(PROBE, call, recording, reply_with()), tolerance).inputs

    other_fields: list[dict[str, Any]] = [
        {"target": "Layer.other"},
        {"args": ("x", "y")},
        {"inputs": "other"},
        {"dtype": "float64"},
        {"stand_ins": {"f": "g", "h": "i"}},
    ]
    assert inputs_of(train=True) == inputs_of()
    assert len({inputs_of(), *(inputs_of(**fields) for fields in other_fields)}) == 1 + len(
        other_fields
    )
    assert inputs_of(stand_ins={"h": "i", "f": "g"}) == inputs_of(stand_ins={"f": "g", "h": "i"})


def test_a_random_answer_has_no_outputs_to_compare_between_modes() -> None:
    recording = Recording({"x": X}, {"output": X}, {}, np.zeros((1, 2, 1 + SUMS)))

    observation = observe(AnsweredCall(RANDOM_PROBE, CALL, recording, reply_with()), tolerance)

    assert (observation.outputs, observation.drew) == ({}, False)
    np.testing.assert_array_equal(
        observation.allowed, allowed(RANDOM_PROBE, CALL, NAMES, tolerance)
    )
    assert observation.allowed.tolist() == [[0.0, 0.03, 0.0, 0.0, 0.0], [0.0] * 5]


@pytest.mark.parametrize(
    ("output", "is_compared"),
    [
        (X, True),
        (np.zeros((2, 3)), False),
        (np.zeros((2, 4)), False),
        (np.ones((2, 3)), False),
        (np.zeros((0, 3)), False),
        (np.ones(1), True),
        (np.zeros(1), False),
        (np.arange(float(MAX_VALUES)), True),
        (np.arange(MAX_VALUES + 1.0), False),
        (None, False),
    ],
)
def test_equal_values_in_eval_mode_are_not_compared_with_training(
    output: np.ndarray | None, is_compared: bool
) -> None:
    recording = Recording({"x": X}, {"output": X}, {}, np.zeros((1, 2, 1 + SUMS)))

    def outputs_of(call: Call) -> set[str]:
        return {
            *observe(AnsweredCall(PROBE, call, recording, reply_with(output)), tolerance).outputs
        }

    assert outputs_of(CALL) == ({"out/output"} if is_compared else set())
    assert outputs_of(replace(CALL, train=True)) == {"out/output"}
