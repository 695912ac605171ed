"""A dropout without effect is seen by comparing a student's own calls in the two modes."""

import dataclasses

import numpy as np
import pytest
from test_diagnose import ALLOWED, NAMES, PROBE, RIGHT, prints

from tensormark.judging.compare import Tolerance
from tensormark.judging.diagnose import ineffective_dropout
from tensormark.judging.fingerprints import Observation, allowed, of_call, of_error

STUCK = ["the solution", "stuck", "no_dropout"]
MOVED = RIGHT + 1  # what dropout makes of the right values


def in_two_modes(
    evaluation: np.ndarray,
    training: np.ndarray,
    inputs: str = "main",
    variants: tuple[np.ndarray, ...] = (MOVED, RIGHT, RIGHT),
) -> list[Observation]:
    """Return a call in eval and in training mode; the variants return these in training mode."""
    right = np.stack([prints(RIGHT)] * 3)
    rows = np.stack([prints(variant) for variant in variants])
    outputs = {"out/output": 0}
    return [
        Observation(evaluation, right, ALLOWED, False, inputs, outputs),
        Observation(training, rows, ALLOWED, True, inputs, outputs),
    ]


SAME = prints(RIGHT / 3)
OTHER_INPUTS = in_two_modes(SAME, prints(RIGHT / 5), "other", (MOVED, MOVED, RIGHT))
RATE_ZERO = in_two_modes(SAME, SAME, "rate 0", (RIGHT, RIGHT, RIGHT))


NEGATIVE, RAISED = prints(-RIGHT / 3), of_error(NAMES, "no")
UNMOVED = in_two_modes(SAME, SAME)
CASES = {
    "unmoved": (UNMOVED, "no_dropout"),
    "unmoved, negative": (in_two_modes(NEGATIVE, NEGATIVE), "no_dropout"),
    "moved": (in_two_modes(SAME, prints(RIGHT / 5)), None),
    "right unmoved": (in_two_modes(SAME, SAME, variants=(RIGHT, RIGHT, RIGHT)), None),
    "raised": (in_two_modes(RAISED, RAISED), None),
    "rate 0 too": ([*UNMOVED, *RATE_ZERO], "no_dropout"),
    "one of two moves": ([*UNMOVED, *OTHER_INPUTS], "stuck"),
    "a twin missing": ([*UNMOVED, OTHER_INPUTS[1]], "no_dropout"),
    "no twins": (UNMOVED[1:], None),
}


@pytest.mark.parametrize(("observations", "mistake"), CASES.values(), ids=CASES)
def test_dropout_has_no_effect_where_training_equals_eval(
    observations: list[Observation], mistake: str | None
) -> None:
    assert ineffective_dropout(observations, STUCK, {"no_dropout": 1}) == mistake


@pytest.mark.parametrize(
    ("counts", "mistake"),
    [
        ({}, None),
        ({"stuck": 1, "no_dropout": 1}, None),
        ({"stuck": 2, "no_dropout": 1}, "stuck"),
        ({"no_dropout": 1}, "no_dropout"),
    ],
)
def test_of_two_mistakes_without_effect_the_more_frequent_is_named(
    counts: dict[str, int], mistake: str | None
) -> None:
    assert ineffective_dropout(UNMOVED, STUCK, counts) == mistake


def test_a_mistake_that_shows_in_eval_mode_is_not_a_dropout_without_effect() -> None:
    evaluation, training = in_two_modes(SAME, SAME, variants=(MOVED, RIGHT, RIGHT / 2))
    rows = np.stack([prints(RIGHT), prints(RIGHT), prints(RIGHT / 2)])

    mistake = ineffective_dropout([dataclasses.replace(evaluation, rows=rows), training], STUCK, {})

    assert mistake == "stuck"


TWO = ["out/first", "out/second"]
STILL, HALF_MOVED = (
    {"out/first": RIGHT, "out/second": RIGHT},
    {"out/first": RIGHT, "out/second": MOVED},
)


@pytest.mark.parametrize(
    ("evaluation", "training", "mistake"),
    [
        (STILL, STILL, "no_dropout"),
        (STILL, HALF_MOVED, None),
        (STILL, {"out/second": RIGHT, "out/first": MOVED}, None),
        ({"out/first": RIGHT}, {"out/first": RIGHT}, None),
    ],
    ids=["unmoved", "second moves", "first moves", "second missing"],
)
def test_dropout_has_no_effect_if_it_moves_none_of_two_outputs(
    evaluation: dict[str, np.ndarray], training: dict[str, np.ndarray], mistake: str | None
) -> None:
    got, trained, still, moved = (
        of_call(TWO, tensors, 0.0) for tensors in (evaluation, training, STILL, HALF_MOVED)
    )
    limits = allowed(PROBE, PROBE.calls[0], TWO, lambda *_: Tolerance(1e-5, 1e-5))
    outputs = {name: number for number, name in enumerate(TWO)}
    observations = [
        Observation(got, np.stack([still] * 3), limits, False, "", outputs),
        Observation(trained, np.stack([moved, moved, still]), limits, True, "", outputs),
    ]

    assert ineffective_dropout(observations, STUCK, {}) == mistake
    fewer = [dataclasses.replace(observations[0], outputs={"out/first": 0}), observations[1]]
    assert ineffective_dropout(fewer, STUCK, {}) is None
