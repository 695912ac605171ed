"""A mistake is named if everything matches; otherwise at most its location is."""

import dataclasses

import numpy as np
import pytest

from tensormark.judging.diagnose import Diagnosis, close, diagnose, ineffective_dropout, recognize
from tensormark.judging.fingerprints import (
    NOT_FINITE,
    RAISED,
    RANDOM,
    UNDECIDED,
    Observation,
    entry,
)

FORM = 7.0
LIMITS = np.stack([entry(0.0, [0.01]), entry(0.0)])
NO = entry(RAISED, [1.0])
NAN = entry(NOT_FINITE, [FORM])
DRAWS = entry(RANDOM, [FORM])
NAMES = ["the solution", "halved", "shifted", "halved+shifted"]
TABLE = (1.0, 0.5, 2.0, 1.5)
ALIKE = (1.0, 0.5, 0.5, 1.5)
HALVED_TWICE = (1.0, 0.5, 2.0, 0.5)


def prints(answer, effects=0.0):
    """Return the fingerprint of a call's only tensor: of its one value, or as it is given."""
    tensor = answer if isinstance(answer, np.ndarray) else entry(FORM, [answer])
    return np.stack([tensor, entry(effects)])


def call(got, rows=TABLE, training=False, drew=True):
    """Return what is observed of a call, next to what the solution and each variant return."""
    table = np.stack([prints(row) for row in rows])
    return Observation(prints(got), table, LIMITS, training, "main", {"out/output": 0}, drew)


CHANGES_STATE = dataclasses.replace(call(0.5), got=prints(0.5, effects=7.0))
RECOGNISED = {
    "another side effect": ([CHANGES_STATE], []),
    "one alone, or two together": ([call(0.5, HALVED_TWICE)], ["halved"]),
    "two alike": ([call(0.5, ALIKE)], ["halved", "shifted"]),
    "a second call without evidence": ([call(0.5), call(1.0, (1.0,) * 4)], ["halved"]),
    "drawn": ([call(0.2, (1.0, DRAWS))], []),
    "undecided": ([call(0.2, (1.0, entry(UNDECIDED)))], []),
    "nothing but NaN": ([call(NAN, (1.0, NAN))], []),
    "an exception everywhere": ([call(NO, (1.0, NO))], []),
    "an exception once": ([call(NO, (1.0, NO)), call(1.0, (1.0, 1.0))], []),
    "an exception and a value": ([call(NO, (1.0, NO)), call(0.5, TABLE[:2])], ["halved"]),
}


@pytest.mark.parametrize(("calls", "names"), RECOGNISED.values(), ids=RECOGNISED)
def test_a_mistake_is_named_if_everything_matches(calls, names):
    assert recognize(calls, NAMES[: len(calls[0].rows)], {}) == names


@pytest.mark.parametrize(
    ("recorded", "got", "drew", "is_named"),
    [
        (DRAWS, 0.2, True, True),
        (DRAWS, 0.2, False, False),
        (DRAWS, 1.0, True, False),
        (DRAWS, entry(8.0, [0.2]), True, False),
        (entry(UNDECIDED), 0.2, False, True),
    ],
)
def test_a_variant_that_draws_explains_wrong_draws_and_an_undecided_one_anything(
    recorded, got, drew, is_named
):
    calls = [call(0.5, TABLE[:2]), call(got, (1.0, recorded), drew=drew)]

    assert recognize(calls, NAMES[:2], {}) == ["halved"] * is_named


@pytest.mark.parametrize(
    ("got", "row", "equal"),
    [
        ([0.15], [0.0], False),
        ([1.19], [1.0], True),
        ([1.25], [1.0], False),
        ([np.nan], [np.nan], True),
        ([0.0], [np.nan], False),
        ([np.inf, 0.0], [np.inf, 0.0], True),
        ([np.inf, 0.15], [np.inf, 0.0], False),
    ],
)
def test_sums_agree_within_what_is_allowed_for_their_size(got, row, equal):
    assert close(entry(FORM, got), entry(FORM, row), entry(0.0, [0.1] * 4)) == equal


# --- several mistakes, and levels: calls that depend on more of a student's functions -------

STUCK = ["the solution", "halved", "stuck"]
DROPPED = 4.0  # what training makes of a right value
RIGHT = (1.0, 1.0, 1.0)


def in_two_modes(
    evaluation, training, inputs="main", rows=(DROPPED, DROPPED, 1.0), eval_rows=(1.0, 0.5, 1.0)
):
    """Return a call in both modes; of the variants, by default, "stuck" drops nothing."""
    both = call(evaluation, eval_rows), call(training, rows, training=True)
    return [dataclasses.replace(observation, inputs=inputs) for observation in both]


HALVED = Diagnosis(("halved",))
UNDROPPED = in_two_modes(0.5, 0.5)
UNKNOWN_IN_TRAINING = call(0.3, RIGHT, training=True)
DIAGNOSED = {
    "the next level decides": ([[call(0.5, ALIKE)], [call(0.5)]], NAMES, HALVED),
    "those that agree stay": ([[call(0.5, ALIKE)], [call(0.5, HALVED_TWICE)]], NAMES, HALVED),
    "two together stay": (
        [[call(1.5)], [call(1.5, (1.0, 0.5, 1.5, 1.5))]],
        NAMES,
        Diagnosis(("halved+shifted",)),
    ),
    "none is left": ([[call(0.5, ALIKE)], [call(0.3, ALIKE)]], NAMES, Diagnosis()),
    "an exception": ([[call(NO), call(0.5)]], NAMES, Diagnosis(("halved",), partly=True)),
    "no dropout either": ([UNDROPPED], STUCK, Diagnosis(("halved+stuck",), "stuck")),
    "no dropout, and unknown": ([in_two_modes(0.3, 0.3)], STUCK, Diagnosis((), "stuck")),
    "right, but unknown in training": (
        [[*in_two_modes(1.0, 1.0), UNKNOWN_IN_TRAINING]],
        STUCK,
        Diagnosis(),
    ),
    "no dropout, unknown, and right elsewhere": (
        [[call(1.0, RIGHT), *in_two_modes(0.3, 0.3, "other")]],
        STUCK,
        Diagnosis((), "stuck"),
    ),
    "another level agrees but for training": (
        [UNDROPPED, [call(0.5, (1.0, 0.5, 0.5)), UNDROPPED[1]]],
        STUCK,
        Diagnosis(("halved+stuck",), "stuck"),
    ),
    "another level is right but for training": (
        [in_two_modes(0.5, DROPPED), in_two_modes(1.0, 0.3)],
        STUCK,
        Diagnosis(),
    ),
    "another level disagrees": (
        [UNDROPPED, [call(0.5, (1.0, 2.0, 0.5)), UNDROPPED[1]]],
        STUCK,
        Diagnosis(("stuck",), "stuck"),
    ),
}


@pytest.mark.parametrize(("levels", "names", "diagnosis"), DIAGNOSED.values(), ids=DIAGNOSED)
def test_mistakes_are_named_that_explain_a_level_and_those_after_it(levels, names, diagnosis):
    assert diagnose(levels, names, {}) == diagnosis


# --- dropout: the two modes of a student's own calls are compared ---------------------------------

NO_DROPOUT = ["the solution", "stuck", "no_dropout"]  # the first of these drops for other inputs


def unmoved(value=0.3, rows=(DROPPED, 1.0, 1.0), inputs="main"):
    return in_two_modes(value, value, inputs, rows, RIGHT)


OTHER = in_two_modes(0.3, 0.2, "other", (DROPPED, DROPPED, 1.0), RIGHT)
MOVES = {
    "unmoved": (unmoved(), {"no_dropout": 1}, "no_dropout"),
    "equal counts": (unmoved(), {"stuck": 1, "no_dropout": 1}, None),
    "other counts": (unmoved(), {"stuck": 2, "no_dropout": 1}, "stuck"),
    "right code drops nothing": (unmoved(rows=RIGHT), {"no_dropout": 1}, None),
    "raised": (unmoved(NO), {"no_dropout": 1}, None),
    "rate 0 too": ([*unmoved(), *unmoved(0.3, RIGHT, "rate 0")], {"no_dropout": 1}, "no_dropout"),
    "one of two moves": ([*unmoved(), *OTHER], {"no_dropout": 1}, "stuck"),
    "another shows in eval mode": (
        in_two_modes(0.3, 0.3, "", (DROPPED, 1.0, 0.5), (1.0, 1.0, 0.5)),
        {},
        "stuck",
    ),
}


@pytest.mark.parametrize(("calls", "counts", "mistake"), MOVES.values(), ids=MOVES)
def test_dropout_has_no_effect_where_training_equals_eval(calls, counts, mistake):
    assert ineffective_dropout(calls, NO_DROPOUT, counts) == mistake
