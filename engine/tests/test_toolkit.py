"""The toolkit: usual probes in one call, where an output is wrong, and what is random."""

import math

import numpy as np
import pytest

from tensormark.exercise import followed
from tensormark.toolkit import Sizes, exercise, locator, usual
from tensormark.toolkit.dropout import RATE, SHARED, Dropout, numbers
from tensormark.toolkit.places import locate
from tensormark.toolkit.statistics import FALSE_ALARM, margin


def draw(rng, call):
    return {"x": rng.standard_normal((3, 7))}


def gate(name, *upstream):
    return exercise(
        f"{name}.forward",
        ("x",),
        draw,
        probes=usual(name, Sizes()),
        given={each: {f"model:{each}": each} for each in upstream},
        id=name,
        order=10,
        title="a gate",
        file="model.py",
        points={"values": 6, "properties": 2},
    )


# --- probes -------------------------------------------------------------------------------------


def test_what_an_exercise_leaves_out_has_a_default():
    short = exercise("last_word", ("x",), draw, arrays=None, file="words.py")
    of_method = exercise("Counter.add", ("x",), draw, file="words.py", points=10, order=3)

    assert (short.id, short.title, short.order) == ("last_word", "", 0)
    assert short.points == {"values": 3, "properties": 1}
    assert [each.name for each in short.probes] == ["output", "second call"]
    assert short.probes[0].says == "last_word gives a wrong output"
    assert {(each.arrays, each.form) for each in short.calls} == {("numpy", "value")}
    assert (of_method.id, of_method.order, of_method.max_score) == ("add", 3, 10)


def test_literals_may_depend_on_the_sizes():
    counted = exercise("f", ("n",), draw, sizes=Sizes(n=3), literals=dict, file="words.py")

    assert {each.literals["n"] for each in counted.calls} == {3}


def test_an_exercise_comes_after_those_upstream():
    with pytest.raises(ValueError, match="attention: rope is upstream, and needs a lower `order`"):
        followed([gate("attention", "rope"), gate("rope")])


def test_the_call_before_the_second_has_other_inputs():
    one = gate("one")

    inputs = one.inputs(one.calls[-1], seed=1)

    assert inputs["before/x"].shape == inputs["x"].shape
    assert not np.array_equal(inputs["before/x"], inputs["x"])


def test_a_stand_in_replaces_what_is_upstream_of_the_exercise_that_it_replaces():
    rope, attention, block, mixed = followed(
        [
            gate("rope"),
            gate("attention", "rope"),
            gate("block", "attention"),
            gate("mixed", "attention", "rope"),
        ]
    )

    def given(exercise):
        return [call.given for call in exercise.probes[0].calls]

    assert block.upstream == ("attention", "rope")
    assert given(block) == [(), ("attention", "rope")]
    assert given(attention) == [(), ("rope",)]
    # it calls rope itself, too
    assert given(mixed) == [(), ("attention",), ("attention", "rope")]
    assert rope.upstream == ()


# --- places -------------------------------------------------------------------------------------

RIGHT = np.random.default_rng(1).standard_normal((3, 4, 5))
ALLOWED = np.full(RIGHT.shape, 1e-5)
AXES = ("signal", "pattern", "window")
PADDING = np.zeros((3, 4), dtype=bool)
PADDING[1, 3:] = True


def changed(*index):
    got = RIGHT.copy()
    got[index] += 1.0 + np.arange(got[index].size).reshape(got[index].shape)
    return got


EVERY = slice(None)
PLACES = {
    "only signal 0 of the batch is wrong": changed(0),
    "signal 0 of the batch is right; the others are wrong": changed(slice(1, None)),
    "only patterns from number 2 on are wrong": changed(EVERY, slice(2, None)),
    "only window 1 of each signal is wrong": changed(EVERY, EVERY, 1),
    "every value is -2 times the expected one": -2.0 * RIGHT,
    "every value is off by the same amount": RIGHT + 3.0,
    "each pattern has the right values, but its windows are in the wrong order": RIGHT[..., ::-1],
    "the patterns have the right values, but are in another order": np.roll(RIGHT, 2, axis=1),
    "the number of values is right: check the order of axes": RIGHT.transpose(0, 2, 1),
    "the number of values is right: an axis of length 1 is missing or extra": RIGHT[:, None],
    "all the right values are there, but in the wrong places: check the order of axes": (
        RIGHT.transpose(1, 0, 2).reshape(3, 4, 5)
    ),
    None: RIGHT + RIGHT**2,
}
BY_PADDING = {
    "only padding is wrong": changed(1, slice(3, None)),
    "only patterns are wrong; padding is right": changed(EVERY, slice(3)),
    "only signals that have padding are wrong": changed(1),
    "only patterns from number 3 on are wrong": changed(EVERY, 3),
}
CASES = [
    *((got, message, None) for message, got in PLACES.items()),
    *((got, message, PADDING) for message, got in BY_PADDING.items()),
]


@pytest.mark.parametrize(("got", "message", "padding"), CASES)
def test_a_place_is_named_in_the_words_of_the_assignment_or_by_padding(got, message, padding):
    assert locate(got, RIGHT, ALLOWED, AXES, padding) == message


def test_places_are_told_apart_among_the_first_axes_where_axes_have_names():
    assert locate(changed(..., 4), RIGHT, ALLOWED, AXES, among=2) is None
    assert locator({3: AXES})(2.0 * RIGHT[0], RIGHT[0], ALLOWED[0], {}) is None


def test_a_single_value_is_not_given_away_by_its_ratio():
    single = np.ones((1, 1))

    assert locate(2.0 * single, 0.5 * single, 0.0 * single, ("row", "unit")) is None


# --- dropout: its statistics tell how its values were drawn ---------------------------------------

SHAPE = (8, 10, 12)
COUNT = int(np.prod(SHAPE))
NOT_ANEW = "it: what a second call drops depends on the first; draw anew in each"


def dropout_sample(seed, *shape):
    """Return scaled ones of which a dropout, drawn with this shape, has dropped some."""
    mask = np.random.default_rng(seed).random(shape or SHAPE) >= RATE
    return np.broadcast_to(mask, SHAPE) / (1 - RATE)


def judge(first, second=None):
    outputs = {"output": first} if second is None else {"output": first, "output again": second}
    values = None if second is None else lambda outputs, _: outputs["output"]
    return Dropout("it", RATE, COUNT, lambda out, _: numbers(out["output"]), values)(outputs, {})


@pytest.mark.parametrize(("shape", "axis"), [((8, 1, 12), 2), ((8, 10, 1), 3), ((1, 1, 12), 2)])
def test_drawing_values_once_along_an_axis_is_recognised(shape, axis):
    values = dropout_sample(3, *shape)

    assert numbers(values)[2] == SHARED * axis
    assert judge(values) == "it: dropout draws once for many values, not once for each"


def test_a_second_call_must_draw_anew_and_be_right_itself():
    first = dropout_sample(1)
    half_anew = np.where(np.arange(SHAPE[0])[:, None, None] % 2, first, dropout_sample(2))

    assert judge(first, first) == judge(first, half_anew) == NOT_ANEW
    assert judge(first, np.ones(SHAPE)) == "with a dropout rate of 0.4, 0.00 of it is dropped"
    scaled = "with a dropout rate of 0.4, kept values should be multiplied by 1.67, not 3.33"
    assert judge(2.0 * first) == scaled


# --- margins: wide enough for right code ----------------------------------------------------------


@pytest.mark.parametrize("draws", [50, 400, 1000])
@pytest.mark.parametrize("expected", [0.1, 0.5, 0.9])
def test_right_draws_are_hardly_ever_outside_the_margin(draws, expected):
    def outside(distance):
        """Return the probability of a share that is further off than this."""
        return sum(
            math.comb(draws, n) * expected**n * (1 - expected) ** (draws - n)
            for n in range(draws + 1)
            if abs(n / draws - expected) > distance
        )

    assert outside(margin(draws, expected)) <= FALSE_ALARM < outside(margin(draws, expected) / 2)
