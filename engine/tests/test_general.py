"""Tests of mistakes that any function can have, which one answer shows without a recorded row."""

from dataclasses import replace

import numpy as np
import pytest

from tensormark.judging.general import shape_mistake
from testkit.trials import (
    CORRECT,
    OUTPUT,
    OWN_CALL,
    VALUES,
    X,
    finding,
    make_exercise,
    reply,
    trial,
)

OFF = OUTPUT + 0.5
NEARLY = OUTPUT * 1.001
NAN = np.full_like(OUTPUT, np.nan)
MODE = "the model's training mode"
IN_TRAINING = {"calls": (replace(OWN_CALL, train=True),)}
SECOND_CALL = {"name": "second call"}
NO_DROPOUT = {"name": "no dropout", **IN_TRAINING}
FLOAT64 = {"name": "other sizes", "calls": (replace(OWN_CALL, dtype="float64"),)}


def problem_in(answer, again=None, **probe):
    """Return what is said of an answer.

    Args:
        again: the answer to a second call made alone, or to another one in float32.
    """
    second = probe == SECOND_CALL

    def ask(answered, dtype="float64", alone=False):
        call = answered.call if alone else replace(answered.call, dtype=dtype)
        return replace(answered, call=call, reply=again if again and alone == second else answer)

    own = replace(VALUES, **{"calls": (OWN_CALL,), **probe})
    before = [replace(VALUES, calls=(OWN_CALL,))] if second else []
    layer = make_exercise("layer", *before, own)
    return finding(trial(*[CORRECT for _ in before], answer, exercise=layer, again=ask))


def in_type(output, dtype):
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
    ],
)
def test_one_answer_can_show_a_general_mistake(answer, probe, name):
    assert problem_in(answer, **probe).mistake == name


@pytest.mark.parametrize(
    ("answer", "again", "probe", "headline"),
    [
        (reply(OFF), reply(), SECOND_CALL, "a call after another one gives a wrong output"),
        (reply(OUTPUT[:1]), reply(), SECOND_CALL, "a call after another one gives a wrong output"),
        (reply(OFF), reply(OFF), SECOND_CALL, "the output is wrong"),
        (reply(OUTPUT[:1]), reply(OUTPUT[:1]), SECOND_CALL, "the output has a wrong shape"),
        (in_type(OFF, "f8"), reply(OFF), FLOAT64, "right for some sizes, and wrong for others"),
        (in_type(NEARLY, "f8"), reply(), FLOAT64, "precise enough for float32, but not"),
        (in_type(OFF, "f8"), reply(), FLOAT64, "right in float32, but wrong in float64"),
        (reply(OFF), None, NO_DROPOUT, "the output is wrong"),
        (reply(OFF, drew=True), None, NO_DROPOUT, "the output is wrong"),
        (reply(NAN), None, IN_TRAINING, "in training mode, the output has values that are NaN"),
        (reply(OUTPUT[:1]), None, IN_TRAINING, "in training mode, the output has a wrong shape"),
    ],
)
def test_a_headline_says_no_more_than_was_seen(answer, again, probe, headline):
    assert problem_in(answer, again, **probe).headline.startswith(headline)


@pytest.mark.parametrize(
    ("got", "expected", "text"),
    [
        ((3, 4), (1, 3, 4), "an axis of length 1 is lost"),
        ((4,), (3, 4), "an axis of the output is missing"),
        ((3, 70, 2), (3, 7, 10, 2), "axes of the output are merged into one"),
        ((30, 7), (3, 7, 10), None),
        ((1,), (3, 7, 10), None),
        ((1,), (3, 1), None),
        ((7, 3, 10), (3, 7, 10), "the axes of the output have the right lengths, but are in the"),
        ((3, 7, 10, 1), (3, 7, 10), None),
    ],
)
def test_a_wrong_shape_says_what_happened_to_the_axes(got, expected, text):
    mistake = shape_mistake(got, expected)

    assert (mistake is None) is (text is None)
    assert mistake is None or mistake.says.startswith(text or "")
