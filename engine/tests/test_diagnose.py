"""A mistake is named if everything matches; otherwise at most its location is."""

import dataclasses
from collections.abc import Sequence

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
Answer = float | np.ndarray  # the value of the one tensor that a call returns, or its fingerprint
Answers = Sequence[Answer]
TABLE: Answers = (1.0, 0.5, 2.0, 1.5)
ALIKE: Answers = (1.0, 0.5, 0.5, 1.5)


def prints(answer: Answer, effects: float = 0.0) -> np.ndarray:
    tensor = answer if isinstance(answer, np.ndarray) else entry(FORM, [answer])
    return np.stack([tensor, entry(effects)])


def call(got: Answer, rows: Answers = TABLE, training: bool = False, drew: bool = True):
    """Return what is observed of a call, next to what the solution and each variant return."""
    table = np.stack([prints(row) for row in rows])
    return Observation(prints(got), table, LIMITS, training, "main", {"out/output": 0}, drew)


CHANGES_STATE = dataclasses.replace(call(0.5), got=prints(0.5, effects=7.0))
RECOGNISED = {
    "rounded": ([call(0.505)], ["halved"]),
    "right": ([call(1.0)], []),
    "another side effect": ([CHANGES_STATE], []),
    "one alone, or two together": ([call(0.5, (1.0, 0.5, 2.0, 0.5))], ["halved"]),
    "two alike": ([call(0.5, ALIKE)], ["halved", "shifted"]),
    "only one of two calls": ([call(0.5), call(2.0)], []),
    "a second call without evidence": ([call(0.5), call(1.0, (1.0,) * 4)], ["halved"]),
    "no calls": ([], []),
    "drawn": ([call(0.2, (1.0, DRAWS))], []),
    "undecided": ([call(0.2, (1.0, entry(UNDECIDED)))], []),
    "nothing but NaN": ([call(NAN, (1.0, NAN))], []),
    "an exception everywhere": ([call(NO, (1.0, NO))], []),
    "an exception once": ([call(NO, (1.0, NO)), call(1.0, (1.0, 1.0))], ["halved"]),
}


@pytest.mark.parametrize(("calls", "names"), RECOGNISED.values(), ids=RECOGNISED)
def test_a_mistake_is_named_if_everything_matches(
    calls: list[Observation], names: list[str]
) -> None:
    rows = NAMES[: len(calls[0].rows)] if calls else NAMES

    assert recognize(calls, rows, {}) == names


def test_the_mistake_that_more_students_make_is_named_first() -> None:
    assert recognize([call(0.5, ALIKE)], NAMES, {"shifted": 1}) == ["shifted", "halved"]


@pytest.mark.parametrize(
    ("recorded", "got", "drew", "is_named"),
    [
        (DRAWS, 0.2, True, True),
        (DRAWS, 0.2, False, False),
        (DRAWS, 1.0, True, False),
        (DRAWS, entry(8.0, [0.2]), True, False),
        (DRAWS, NAN, True, False),
        (entry(UNDECIDED), 0.2, False, True),
    ],
)
def test_a_variant_that_draws_explains_wrong_draws_and_an_undecided_one_anything(
    recorded: np.ndarray, got: Answer, drew: bool, is_named: bool
) -> None:
    calls = [call(0.5, TABLE[:2]), call(got, (1.0, recorded), drew=drew)]

    assert recognize(calls, NAMES[:2], {}) == ["halved"] * is_named


@pytest.mark.parametrize(
    ("got", "row", "equal"),
    [
        ([0.1], [0.0], True),
        ([0.15], [0.0], False),
        ([1.19], [1.0], True),
        ([1.25], [1.0], False),
        ([np.nan], [np.nan], True),
        ([np.nan], [0.0], False),
        ([0.0], [np.nan], False),
        ([np.inf, 0.0], [np.inf, 0.0], True),
        ([np.inf, 0.15], [np.inf, 0.0], False),
        ([-np.inf, 0.15], [-np.inf, 0.0], False),
    ],
)
def test_sums_agree_within_what_is_allowed_for_their_size(
    got: list[float], row: list[float], equal: bool
) -> None:
    assert close(entry(FORM, got), entry(FORM, row), entry(0.0, [0.1] * 4)) == equal


# --- levels: calls that depend on ever more of a student's other functions ------------------------

LEVELS = {
    "the next one decides": ([call(0.5, ALIKE), call(0.5)], ("halved",)),
    "those that agree stay": ([call(0.5, ALIKE), call(0.5, (1.0, 0.5, 2.0, 0.5))], ("halved",)),
    "two together": ([call(1.5), call(1.5, (1.0, 0.5, 1.5, 1.5))], ("halved+shifted",)),
    "none is left": ([call(0.5, ALIKE), call(0.3, ALIKE)], ()),
}


@pytest.mark.parametrize(("levels", "mistakes"), LEVELS.values(), ids=LEVELS)
def test_another_level_decides_between_mistakes_that_one_leaves(
    levels: list[Observation], mistakes: tuple[str, ...]
) -> None:
    assert diagnose([[level] for level in levels], NAMES).mistakes == mistakes


@pytest.mark.parametrize(
    ("first", "diagnosis"),
    [(NO, Diagnosis(("halved",), partly=True)), (3.0, Diagnosis())],
    ids=["raises", "returns"],
)
def test_calls_that_raise_are_left_out_if_nothing_explains_them(
    first: Answer, diagnosis: Diagnosis
) -> None:
    assert diagnose([[call(first), call(0.5)]], NAMES) == diagnosis


# --- dropout: the two modes of a student's own calls are compared ---------------------------------

STUCK = ["the solution", "halved", "stuck"]
DROPPED = 4.0  # what training makes of a right value


def in_two_modes(
    evaluation: Answer,
    training: Answer,
    inputs: str = "main",
    rows: Answers = (DROPPED, DROPPED, 1.0),
    eval_rows: Answers = (1.0, 0.5, 1.0),
) -> list[Observation]:
    """Return a call in both modes; of the variants, by default, "stuck" drops nothing."""
    both = call(evaluation, eval_rows), call(training, rows, training=True)
    return [dataclasses.replace(observation, inputs=inputs) for observation in both]


DIAGNOSED = {
    "a mistake": (in_two_modes(0.5, 0.5), Diagnosis(("halved+stuck",), "stuck")),
    "unknown values": (in_two_modes(0.3, 0.3), Diagnosis((), "stuck")),
    "right values": (in_two_modes(1.0, 1.0), Diagnosis(("stuck",))),
    "right values, and another call is unknown": (
        [*in_two_modes(1.0, 1.0), call(0.3, (1.0,) * 3, training=True)],
        Diagnosis(),
    ),
    "one wrong call among right ones": (
        [call(1.0, (1.0,) * 3), *in_two_modes(0.3, 0.3, "other")],
        Diagnosis((), "stuck"),
    ),
}


@pytest.mark.parametrize(("calls", "diagnosis"), DIAGNOSED.values(), ids=DIAGNOSED)
def test_a_missing_dropout_is_named_next_to_what_the_values_show(
    calls: list[Observation], diagnosis: Diagnosis
) -> None:
    assert diagnose([calls], STUCK) == diagnosis


@pytest.mark.parametrize(
    ("rows", "mistakes"), [((1.0, 0.5, 0.5), ("halved+stuck",)), ((1.0, 2.0, 0.5), ("stuck",))]
)
def test_another_level_need_not_agree_in_training_if_that_was_diagnosed_apart(
    rows: Answers, mistakes: tuple[str, ...]
) -> None:
    first = in_two_modes(0.5, 0.5)

    assert diagnose([first, [call(0.5, rows), first[1]]], STUCK).mistakes == mistakes


NO_DROPOUT = ["the solution", "stuck", "no_dropout"]  # the first of these drops for other inputs
RIGHT = (1.0, 1.0, 1.0)


def unmoved(value: Answer = 0.3, rows: Answers = (DROPPED, 1.0, 1.0), inputs: str = "main"):
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
    "no twins": (unmoved()[1:], {"no_dropout": 1}, None),
    "another shows in eval mode": (
        in_two_modes(0.3, 0.3, "", (DROPPED, 1.0, 0.5), (1.0, 1.0, 0.5)),
        {},
        "stuck",
    ),
}


@pytest.mark.parametrize(("calls", "counts", "mistake"), MOVES.values(), ids=MOVES)
def test_dropout_has_no_effect_where_training_equals_eval(
    calls: list[Observation], counts: dict[str, int], mistake: str | None
) -> None:
    assert ineffective_dropout(calls, NO_DROPOUT, counts) == mistake


@pytest.mark.parametrize(
    ("moves", "eval_outputs", "mistake"),
    [([], "ab", "stuck"), ([0], "ab", None), ([1], "ab", None), ([], "a", None)],
    ids=["unmoved", "first moves", "second moves", "second missing"],
)
def test_dropout_has_no_effect_if_it_moves_none_of_two_outputs(
    moves: list[int], eval_outputs: str, mistake: str | None
) -> None:
    still = np.stack([entry(FORM, [0.3])] * 2)
    trained = still.copy()
    trained[moves] = entry(FORM, [DROPPED])
    dropped = np.stack([entry(FORM, [DROPPED])] * 2)
    limits = LIMITS[[0, 0]]
    outputs = {"a": 0, "b": 1}
    seen = {name: outputs[name] for name in eval_outputs}
    calls = [
        Observation(still, np.stack([still, still]), limits, False, "", seen),
        Observation(trained, np.stack([dropped, still]), limits, True, "", outputs),
    ]

    assert ineffective_dropout(calls, ["the solution", "stuck"], {}) == mistake
