"""A mistake is named if everything matches; otherwise at most its location is."""

import dataclasses

import numpy as np
import pytest

from tensormark.exercise import Call, Probe
from tensormark.judging.compare import Tolerance
from tensormark.judging.diagnose import (
    Diagnosis,
    close,
    diagnose,
    ineffective_dropout,
    matching_variants,
    one_sentence,
    recognize,
)
from tensormark.judging.fingerprints import (
    RANDOM,
    UNDECIDED,
    Observation,
    allowed,
    entry,
    fingerprints,
    form,
)
from tensormark.sandbox.interface import Reply

NAMES = ["out/output"]
ROWS = ["the solution", "halved", "shifted", "halved+shifted"]
RIGHT = np.random.default_rng(1).standard_normal((2, 3, 4))
PROBE = Probe("output", "values", "", (Call("f", ("x",), "main"),))
ALLOWED = allowed(PROBE, PROBE.calls[0], NAMES, lambda *_: Tolerance(1e-5, 1e-5))


def prints(array: np.ndarray, effects: float = 0.0) -> np.ndarray:
    rows = prints_of(NAMES, Reply("ok", "", {}, {"out/output": array}))
    rows[-1] = entry(effects)
    return rows


def prints_of(names: list[str], reply: Reply) -> np.ndarray:
    return fingerprints(PROBE, PROBE.calls[0], names, {}, reply)


TABLE = np.stack([prints(a) for a in (RIGHT, RIGHT / 2, RIGHT + 1, RIGHT / 2 + 1)])


def table(number: int, row: np.ndarray) -> np.ndarray:
    """Return the table with another row."""
    rows = TABLE.copy()
    rows[number] = row
    return rows


HALF = RIGHT / 2
NO = prints_of(NAMES, Reply("error", "raised ValueError: no"))
NOISE = 1e-6 * np.random.default_rng(2).standard_normal(RIGHT.shape)
LAST = np.arange(RIGHT.size).reshape(RIGHT.shape) == RIGHT.size - 1
HERE = np.where(LAST, np.nan, HALF)
THERE = np.where(LAST[::-1], np.nan, HALF)
ALIKE = table(2, TABLE[1])
RECOGNISED = {
    "rounded": (prints(HALF + NOISE), TABLE, ["halved"]),
    "right": (prints(RIGHT), TABLE, []),
    "unknown": (prints(RIGHT / 3), TABLE, []),
    "not a number": (prints(RIGHT * np.nan), TABLE, []),
    "one value off": (prints(HALF + 1e-2 * LAST), TABLE, []),
    "another shape": (prints(HALF.reshape(3, 2, 4)), TABLE, []),
    "another type": (prints(HALF.astype(np.float32)), TABLE, []),
    "two together": (prints(HALF + 1), TABLE, ["halved+shifted"]),
    "side effects": (prints(HALF, effects=7.0), TABLE, []),
    "two alike": (prints(HALF), ALIKE, ["halved", "shifted"]),
    "one alone, or two together": (prints(HALF), table(3, TABLE[1]), ["halved"]),
    "chance alone": (
        prints(RIGHT / 5),
        table(1, np.stack([entry(RANDOM, [form(RIGHT)]), TABLE[1, 1]])),
        [],
    ),
    "an exception everywhere": (NO, table(1, NO), []),
    "its own NaN": (prints(HERE), table(1, prints(HERE)), ["halved"]),
    "NaN elsewhere": (prints(THERE), table(1, prints(HERE)), []),
    "its own NaN, other values": (prints(2 * HERE), table(1, prints(HERE)), []),
    "nothing but NaN": (prints(RIGHT * np.nan), table(1, prints(RIGHT * np.nan)), []),
}


@pytest.mark.parametrize(("got", "rows", "names"), RECOGNISED.values(), ids=RECOGNISED)
def test_a_mistake_is_named_if_everything_matches(
    got: np.ndarray, rows: np.ndarray, names: list[str]
) -> None:
    assert recognize([Observation(got, rows, ALLOWED)], ROWS, {}) == names


def test_the_mistake_that_more_students_make_is_named_first() -> None:
    names = recognize([Observation(prints(HALF), ALIKE, ALLOWED)], ROWS, {"shifted": 1})

    assert names == ["shifted", "halved"]


def test_nothing_is_recognised_without_a_call() -> None:
    assert recognize([], ROWS, {}) == []


def test_a_mistake_must_explain_every_call() -> None:
    fits, other = (Observation(prints(a), TABLE, ALLOWED) for a in (RIGHT / 2, RIGHT + 1))

    assert recognize([fits, fits], ROWS, {}) == ["halved"]
    assert recognize([fits, other], ROWS, {}) == []


THREE_ALONE = ["the solution", "halved", "shifted", "doubled"]
LEVELS = {  # for each level, an answer and the recorded rows
    "it decides": ([(HALF, ALIKE), (HALF, TABLE)], ROWS, ("halved",)),
    "it keeps those that agree": (
        [(HALF, ALIKE), (HALF, table(3, TABLE[1]))],
        THREE_ALONE,
        ("halved",),
    ),
    "two together": (
        [(HALF + 1, TABLE), (HALF + 1, table(2, TABLE[3]))],
        ROWS,
        ("halved+shifted",),
    ),
    "all agree": ([(HALF, TABLE)] * 3, ROWS, ("halved",)),
    "it excludes": ([(HALF, ALIKE), (RIGHT / 3, ALIKE)], ROWS, ()),
}


@pytest.mark.parametrize(("levels", "names", "mistakes"), LEVELS.values(), ids=LEVELS)
def test_another_level_decides_between_mistakes_that_one_leaves(
    levels: list[tuple[np.ndarray, np.ndarray]], names: list[str], mistakes: tuple[str, ...]
) -> None:
    observed = [[Observation(prints(array), rows, ALLOWED)] for array, rows in levels]

    assert diagnose(observed, names).mistakes == mistakes


NAMES_OF_ROWS = ["the solution", "halved", "stuck"]


def stuck_in_training(values: np.ndarray) -> list[Observation]:
    """Return calls that give the same values in both modes, as the variant "stuck" does."""
    dropped = prints(0 * RIGHT)
    got = prints(values)
    outputs = {"out/output": 0}
    rows = np.stack([TABLE[0], TABLE[1], TABLE[0]]), np.stack([dropped, dropped, TABLE[0]])
    return [
        Observation(got, rows[training], ALLOWED, training, "main", outputs)
        for training in (False, True)
    ]


@pytest.mark.parametrize(
    ("values", "diagnosis"),
    [
        (RIGHT / 2, Diagnosis(("halved+stuck",), "stuck")),
        (RIGHT / 3, Diagnosis((), "stuck")),
        (RIGHT, Diagnosis(("stuck",))),
    ],
    ids=["a mistake", "unknown", "right"],
)
def test_a_mistake_in_training_is_named_next_to_what_the_values_show(
    values: np.ndarray, diagnosis: Diagnosis
) -> None:
    assert diagnose([stuck_in_training(values)], NAMES_OF_ROWS) == diagnosis


def test_another_level_need_not_agree_in_training_if_that_was_diagnosed_apart() -> None:
    evaluation, training = stuck_in_training(RIGHT / 2)
    alike = dataclasses.replace(evaluation, rows=np.stack([TABLE[0], TABLE[1], TABLE[1]]))
    other = dataclasses.replace(evaluation, rows=np.stack([TABLE[0], TABLE[2], TABLE[1]]))

    with_alike, with_other = (
        diagnose([[evaluation, training], [level, training]], NAMES_OF_ROWS).mistakes
        for level in (alike, other)
    )

    assert with_alike == ("halved+stuck",)
    assert with_other == ("stuck",)


def test_right_values_are_not_diagnosed() -> None:
    unknown = Observation(prints(RIGHT / 3), TABLE[:3], ALLOWED, True)

    assert diagnose([[*stuck_in_training(RIGHT), unknown]], NAMES_OF_ROWS) == Diagnosis()


def test_one_wrong_call_among_right_ones_is_enough_for_a_diagnosis() -> None:
    other = Observation(prints(RIGHT), TABLE[[0, 0, 0]], ALLOWED, False, "other", {"out/output": 0})

    assert diagnose([[other, *stuck_in_training(RIGHT / 3)]], NAMES_OF_ROWS).training == "stuck"


@pytest.mark.parametrize(
    ("mistakes", "sentence"),
    [(["a"], "a"), (["a", "b"], "a, and b"), (["a", "b", "c"], "a; b; and c")],
)
def test_mistakes_are_listed_in_one_sentence(mistakes: list[str], sentence: str) -> None:
    assert one_sentence(mistakes) == sentence


@pytest.mark.parametrize(
    ("got", "row", "equal"),
    [
        (0.1, 0.0, True),
        (0.15, 0.0, False),
        (1.19, 1.0, True),
        (1.25, 1.0, False),
        (np.nan, np.nan, True),
        (np.nan, 0.0, False),
        (0.0, np.nan, False),
    ],
)
def test_sums_agree_within_what_is_allowed_for_their_size(
    got: float, row: float, equal: bool
) -> None:
    allowed = entry(0.0, [0.1] * 4)

    assert close(entry(7.0, [got]), entry(7.0, [row]), allowed) == equal


@pytest.mark.parametrize("overflow", [np.inf, -np.inf])
def test_a_sum_that_overflows_does_not_widen_what_is_allowed_for_others(overflow: float) -> None:
    row = entry(7.0, [overflow, 0.0])
    near = entry(7.0, [overflow, 0.15])

    assert close(row, row, entry(0.0, [0.1] * 4))
    assert not close(near, row, entry(0.0, [0.1] * 4))


@pytest.mark.parametrize(
    ("recorded", "got", "drew", "fits"),
    [
        (entry(RANDOM, [form(RIGHT)]), RIGHT / 5, True, True),
        (entry(RANDOM, [form(RIGHT)]), RIGHT / 5, False, False),
        (entry(RANDOM, [form(RIGHT)]), RIGHT, True, False),
        (entry(RANDOM, [form(RIGHT)]), RIGHT[0] / 5, True, False),
        (entry(RANDOM, [form(RIGHT)]), RIGHT.astype("f4") / 5, True, False),
        (entry(RANDOM, [form(RIGHT)]), RIGHT * np.nan, True, False),
        (entry(RANDOM, [form(RIGHT[0])]), RIGHT[0] / 5, True, True),
        (entry(RANDOM, [form(RIGHT[0])]), RIGHT / 5, True, False),
        (entry(UNDECIDED), RIGHT / 5, False, True),
    ],
)
def test_a_random_variant_explains_random_wrong_values_and_an_undecided_one_anything(
    recorded: np.ndarray, got: np.ndarray, drew: bool, fits: bool
) -> None:
    rows = table(1, np.stack([recorded, TABLE[1, 1]]))

    assert matching_variants(Observation(prints(got), rows, ALLOWED, drew=drew))[1] == fits


@pytest.mark.parametrize(("first", "named"), [(NO, True), (prints(HALF + 3), False)])
def test_calls_that_raise_are_left_out_if_nothing_explains_them(
    first: np.ndarray, named: bool
) -> None:
    calls = [Observation(got, TABLE, ALLOWED) for got in (first, prints(HALF))]

    assert diagnose([calls], ROWS) == (
        Diagnosis(("halved",), partly=True) if named else Diagnosis()
    )


# --- a dropout without effect: the two modes of a student's own calls are compared ---

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


NEGATIVE = prints(-RIGHT / 3)
RAISED = prints_of(NAMES, Reply("error", "no"))
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
STILL = {"out/first": RIGHT, "out/second": RIGHT}
HALF_MOVED = {"out/first": RIGHT, "out/second": MOVED}


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
        prints_of(TWO, Reply("ok", "", {}, tensors))
        for tensors in (evaluation, training, STILL, HALF_MOVED)
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
