"""The statistics of a dropout tell how its values were drawn."""

import numpy as np
import pytest

from tensormark.exercise import Tensors
from tensormark.toolkit.dropout import RATE, SHARED, Dropout, numbers

SHAPE = (8, 10, 12)
COUNT = int(np.prod(SHAPE))


def dropout_sample(seed: int, *shape: int) -> np.ndarray:
    """Return scaled ones of which a dropout, drawn with this shape, has dropped some."""
    mask = np.random.default_rng(seed).random(shape) >= RATE
    return np.broadcast_to(mask, SHAPE) / (1 - RATE)


def judge(values: np.ndarray) -> str | None:
    dropout = Dropout("the output", RATE, COUNT, lambda out, _: numbers(out["output"]))
    return dropout({"output": values}, {})


@pytest.mark.parametrize("seed", range(20))
def test_drawing_values_one_by_one_is_right(seed: int) -> None:
    assert judge(dropout_sample(seed, *SHAPE)) is None


@pytest.mark.parametrize(
    ("shape", "axis"), [((1, 10, 12), 1), ((8, 1, 12), 2), ((8, 10, 1), 3), ((1, 1, 12), 1)]
)
def test_drawing_values_once_along_an_axis_is_recognised(shape: tuple[int, ...], axis: int) -> None:
    values = dropout_sample(3, *shape)

    assert numbers(values)[2] == SHARED * axis
    assert judge(values) == "the output: dropout is drawn once for many values, not for each"


def test_values_that_do_not_count_are_not_compared() -> None:
    values = dropout_sample(5, *SHAPE).copy()
    counts = np.ones(SHAPE, dtype=bool)
    counts[:, 5:] = False
    values[:, 5:] = 7.0

    kept, factor, broken, _ = numbers(values, counts=counts)

    assert (factor, broken) == (pytest.approx(1 / (1 - RATE)), 0.0)
    assert abs(kept - (1 - RATE)) < 0.15


@pytest.mark.parametrize("kept", [True, False])
def test_all_kept_or_all_dropped_values_do_not_count_as_shared(kept: bool) -> None:
    assert numbers(np.full(SHAPE, float(kept)))[2] == 0.0


def judge_twice(first: np.ndarray, second: np.ndarray) -> str | None:
    def values(outputs: Tensors, inputs: Tensors) -> np.ndarray:
        return outputs["output"]

    dropout = Dropout("it", RATE, COUNT, lambda out, _: numbers(out["output"]), values)
    return dropout({"output": first, "output again": second}, {})


@pytest.mark.parametrize("seed", range(10))
def test_two_passes_that_draw_anew_are_right(seed: int) -> None:
    assert judge_twice(dropout_sample(seed, *SHAPE), dropout_sample(seed + 99, *SHAPE)) is None


def test_a_second_pass_must_draw_anew_and_be_right_itself() -> None:
    first = dropout_sample(1, *SHAPE)
    other = dropout_sample(2, *SHAPE)
    half = np.where(np.arange(SHAPE[0])[:, None, None] % 2, first, other)

    assert judge_twice(first, first) == judge_twice(first, half)
    assert judge_twice(first, first) == "it: a second call does not draw anew what it drops"
    assert "0.00 of it is dropped" in (judge_twice(first, np.ones(SHAPE)) or "")
