"""Fingerprints of what no correct code returns, and what is observed of an answer.

The golden corpus compares all others with recorded ones.
"""

from dataclasses import replace

import numpy as np
import pytest

from tensormark.exercise import Call, Probe
from tensormark.judging.fingerprints import (
    MAX_VALUES,
    MISSING,
    SUMS,
    AnsweredCall,
    fingerprints,
    form,
    observe,
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


def answer(output=X, **message):
    tensors = {} if output is None else {"out/output": output}
    return Reply("ok", "", {"changed": [], **message}, tensors)


def fingerprint(reply, probe=PROBE):
    recording = Recording({"x": X}, {"output": X}, {}, np.zeros(0))
    return fingerprints(AnsweredCall(probe, CALL, recording, reply)).tolist()


# --- of a reply ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "code", "mean"),
    [
        (None, MISSING, 0.0),
        (EMPTY, form(EMPTY), 0.0),
        (LARGE, form(LARGE), 0.0),
        (LARGE[1:], form(LARGE[1:]), 1.0),
        (np.full((2, 3), 1.7e308), form(X), np.inf),
    ],
    ids=["missing", "empty", "too large", "largest", "overflow"],
)
def test_an_answer_has_sums_or_statistics_if_it_has_values_and_is_not_too_large(output, code, mean):
    sums = fingerprint(answer(output))[0]

    assert fingerprint(answer(output), RANDOM_PROBE)[0][:2] == [code, mean]
    assert (sums[0], any(sums[1:])) == (code, mean != 0)


@pytest.mark.parametrize("error", [ValueError, KeyError, IndexError, TypeError])
def test_statistics_that_do_not_fit_the_shape_leave_the_form(error):
    def read(out, _):
        raise error

    probe = replace(PROBE, examine=Statistics(MEAN, read))

    assert fingerprint(answer(), probe)[0] == [form(X), *[0.0] * SUMS]


def test_the_fingerprint_of_an_exception_does_not_depend_on_its_words():
    first = fingerprint(Reply("error", "raised A: x (main.py, line 7)"))

    assert first == fingerprint(Reply("error", "raised B: y"))


# --- beside those of the variants ---------------------------------------------------------------

LIMITS = {"outputs": 0.1, "gradients": 0.2, "float64": 0.3}
ENTRY = {"tolerance": {kind: {"rtol": 0.0, "atol": limit} for kind, limit in LIMITS.items()}}


def observation(reply, probe=PROBE, **fields):
    recording = Recording({"x": X}, {"output": X}, {"x": X}, np.zeros((2, 3, 1 + SUMS)))
    return observe(AnsweredCall(probe, replace(CALL, **fields), recording, reply), ENTRY)


def test_an_answer_is_observed_beside_the_variants_with_the_tolerance_of_each_tensor():
    seen = observation(answer(drew=True), train=True)

    assert (seen.training, seen.drew, seen.outputs) == (True, True, {"out/output": 1})
    assert seen.inputs == observation(answer()).inputs != observation(answer(), args=()).inputs
    assert seen.allowed[:, :2].tolist() == [[0.0, 0.2], [0.0, 0.1], [0.0, 0.0]]
    assert observation(answer(), dtype="float64").allowed[:, 1].tolist() == [0.3, 0.3, 0.0]


def test_a_random_answer_has_no_outputs_to_compare_between_modes():
    seen = observation(answer(), RANDOM_PROBE)

    assert (seen.outputs, seen.drew) == ({}, False)
    assert seen.allowed.tolist() == [[0.0, 0.03, 0.0, 0.0, 0.0], [0.0] * 5]


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
def test_equal_values_in_eval_mode_are_not_compared_with_training(output, is_compared):
    assert bool(observation(answer(output)).outputs) is is_compared
    assert observation(answer(output), train=True).outputs
