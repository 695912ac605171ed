"""The statistics of a dropout tell how its values were drawn."""

import numpy as np
import pytest

from tensormark.toolkit.dropout import RATE, SHARED, Dropout, numbers

SHAPE = (8, 10, 12)
COUNT = int(np.prod(SHAPE))
NOT_ANEW = "it: a second call makes no new draws"


def dropout_sample(seed: int, *shape: int) -> np.ndarray:
    """Return scaled ones of which a dropout, drawn with this shape, has dropped some."""
    mask = np.random.default_rng(seed).random(shape or SHAPE) >= RATE
    return np.broadcast_to(mask, SHAPE) / (1 - RATE)


def judge(first: np.ndarray, second: np.ndarray | None = None) -> str | None:
    outputs = {"output": first} if second is None else {"output": first, "output again": second}
    values = None if second is None else lambda outputs, _: outputs["output"]
    return Dropout("it", RATE, COUNT, lambda out, _: numbers(out["output"]), values)(outputs, {})


@pytest.mark.parametrize("seed", range(3))
def test_drawing_values_one_by_one_and_anew_in_a_second_call_is_right(seed: int) -> None:
    assert judge(dropout_sample(seed)) is None
    assert judge(dropout_sample(seed), dropout_sample(seed + 99)) is None


@pytest.mark.parametrize(("shape", "axis"), [((8, 1, 12), 2), ((8, 10, 1), 3), ((1, 1, 12), 1)])
def test_drawing_values_once_along_an_axis_is_recognised(shape: tuple[int, ...], axis: int) -> None:
    values = dropout_sample(3, *shape)

    assert numbers(values)[2] == SHARED * axis
    assert judge(values) == "it: dropout draws once for many values, not once for each"


def test_values_that_do_not_count_are_not_compared() -> None:
    counts = np.arange(SHAPE[1])[:, None] < np.full(SHAPE, 5)
    values = np.where(counts, dropout_sample(5), 7.0)

    kept, factor, broken, _ = numbers(values, counts=counts)

    assert (factor, broken) == (pytest.approx(1 / (1 - RATE)), 0.0)
    assert abs(kept - (1 - RATE)) < 0.15


def test_a_second_call_must_draw_anew_and_be_right_itself() -> None:
    first = dropout_sample(1)
    half_anew = np.where(np.arange(SHAPE[0])[:, None, None] % 2, first, dropout_sample(2))

    assert judge(first, first) == judge(first, half_anew) == NOT_ANEW
    assert judge(first, np.ones(SHAPE)) == "with a dropout rate of 0.4, 0.00 of it is dropped"
    scaled = "with a dropout rate of 0.4, kept values should be multiplied by 1.67, not 3.33"
    assert judge(2.0 * first) == scaled
