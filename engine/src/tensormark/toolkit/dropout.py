"""Measure dropout in training, without knowing the random draws.

The inputs of these probes are chosen so that a correct output shows, for each value, whether it was
dropped. Four statistics of the output are compared with those expected for the rate:

    kept     the share of values that were not dropped               1 - rate
    factor   the factor by which kept values were multiplied         1 / (1 - rate)
    broken   the share of values inconsistent with dropout there     0
    zero     the share of sums that are entirely zero                0

If the dropped values are the same all along an axis, for example because they were drawn once for
all positions, `broken` is SHARED times the number of the axis, counted from 1. If values are drawn
one by one, the chance that ALIKE pairs agree is (1 - 2 * RATE * (1 - RATE)) ** ALIKE, below 1e-28.

Of a call that is made twice, both passes are measured, and the values that both of them keep or
both of them drop are counted: a share of rate^2 + (1 - rate)^2 if each pass draws anew.

Dimension key: B batch, T positions, D width.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from tensormark.exercise import Tensors
from tensormark.toolkit.statistics import margin
from tensormark.worker.protocol import AGAIN

RATE = 0.4  # keeps 0.60; applied twice 0.36; a hard-coded rate of 0.5 or 0.1 keeps 0.50 or 0.90
EXACT = 2e-3  # tolerance of statistics that do not depend on draws
SHARED = 10.0
ALIKE = 100
ANCHORS = (-1.5, 1.5)  # units whose projection is 0, used to undo a norm


@dataclasses.dataclass(frozen=True)
class Dropout:
    """Judges a pass in training, or two that should differ.

    Attributes:
        place: what should be dropped, in words.
        rate: the rate of every dropout module.
        number: how many values can be dropped.
        measure: computes kept, factor, broken and zero from outputs and inputs.
        values: returns the values that can be dropped, 0 if they are; for calls made twice.
    """

    place: str
    rate: float
    number: int
    measure: Callable[[Tensors, Tensors], np.ndarray]
    values: Callable[[Tensors, Tensors], np.ndarray] | None = None

    @property
    def expected(self) -> np.ndarray:
        """The statistics of a correct dropout."""
        return np.array([1 - self.rate, 1 / (1 - self.rate), 0.0, 0.0])

    @property
    def spread(self) -> np.ndarray:
        """How far each statistic may be off if it depends on the draws."""
        chance = margin(self.number)
        return np.array([chance, EXACT, chance, chance])

    @property
    def allowed(self) -> np.ndarray:
        """How far each statistic of a correct dropout may be off."""
        chance, exact, *_ = self.spread
        return np.array([chance, exact, exact, chance])

    def __call__(self, outputs: Tensors, inputs: Tensors) -> str | None:
        """Return what is wrong, or None."""
        again = {
            name.removesuffix(AGAIN): value
            for name, value in outputs.items()
            if name.endswith(AGAIN)
        }
        wrong = self.wrong_pass(outputs, inputs)
        if wrong or not again:
            return wrong
        return self.wrong_pass(again, inputs) or self.repeated(outputs, again, inputs)

    def repeated(self, first: Tensors, second: Tensors, inputs: Tensors) -> str | None:
        """Return whether two passes drop the same values more often, or less, than by chance."""
        assert self.values is not None
        kept, also_kept = (np.abs(self.values(each, inputs)) > EXACT for each in (first, second))
        alike = float((kept == also_kept).mean())
        expected = self.rate**2 + (1 - self.rate) ** 2
        if abs(alike - expected) <= self.spread[0]:
            return None
        return f"{self.place}: what a second call drops depends on the first; draw anew in each"

    def wrong_pass(self, outputs: Tensors, inputs: Tensors) -> str | None:
        """Return what is wrong with one pass, or None."""
        measured = self.measure(outputs, inputs)
        right = np.abs(measured - self.expected) <= self.allowed  # false for NaN
        if right.all():
            return None
        if measured[2] >= SHARED:
            return f"{self.place}: dropout draws once for many values, not once for each"
        if not right[2] or not right[3]:
            return f"the dropped values do not match a dropout on {self.place}"
        if not right[0]:
            dropped = f"{1 - measured[0]:.2f} of {self.place} is dropped"
            return f"with a dropout rate of {self.rate}, {dropped}"
        return (
            f"with a dropout rate of {self.rate}, kept values should be multiplied by "
            f"{self.expected[1]:.2f}, not {measured[1]:.2f}"
        )


def _axis_shared(kept: np.ndarray, counts: np.ndarray) -> int:
    """Return the last axis, from 1, along which the same values are kept; 0 if there is none."""
    droppable = kept[counts]
    if droppable.all() or not droppable.any():
        return 0
    for axis in reversed(range(kept.ndim)):
        both = np.delete(counts, 0, axis) & np.delete(counts, -1, axis)
        same = np.delete(kept, 0, axis) == np.delete(kept, -1, axis)
        if both.sum() >= ALIKE and same[both].all():
            return axis + 1
    return 0


def numbers(
    values: np.ndarray, whole: np.ndarray | float = 1.0, counts: np.ndarray | None = None
) -> np.ndarray:
    """Compute the statistics of values that are 0 if dropped, else `factor * whole`.

    Args:
        counts: where values may be dropped; None: everywhere.
    """
    values = values.astype(np.float64) / whole
    counts = np.ones(values.shape, dtype=bool) if counts is None else counts
    kept = np.abs(values) > EXACT
    present = values[kept & counts]
    if not present.size:
        return np.array([0.0, 0.0, 0.0, 0.0])
    factor = float(np.median(present))
    with np.errstate(invalid="ignore"):  # a norm that cannot be undone gives infinities
        broken = (~(np.abs(present - factor) <= EXACT * max(1.0, abs(factor)))).mean()
    axis = _axis_shared(kept, counts)
    return np.array([kept[counts].mean(), factor, SHARED * axis if axis else broken, 0.0])


def neighbours(width_out: int, width_in: int) -> np.ndarray:
    """Return a dense layer's weight (width_out, width_in) that maps ones to ones.

    Each unit except the anchors is the mean of two inputs, so that dropout before the layer shows
    up as halves.
    """
    weight = np.zeros((width_out, width_in))
    for unit in range(len(ANCHORS), width_out):
        weight[unit, [unit % width_in, (unit + 1) % width_in]] = 0.5
    return weight


def anchored(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Draw a residual (B, T, D): each vector has mean 0, variance 1 and the anchors' values."""
    x = rng.standard_normal(shape)
    half = len(ANCHORS)
    x[..., :half] = ANCHORS
    rest = x[..., half:]
    rest -= rest.mean(-1, keepdims=True)
    left = shape[-1] - float(np.square(ANCHORS).sum())
    rest *= np.sqrt(left / np.square(rest).sum(-1, keepdims=True))
    return x


def undone(output: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Return what was added to the residual before an identity LayerNorm, without the anchors.

    A norm is z -> (z - mean) / deviation; z is known at the anchors, which determines both.
    """
    got = output.astype(np.float64)
    with np.errstate(all="ignore"):
        deviation = (ANCHORS[1] - ANCHORS[0]) / (got[..., 1] - got[..., 0])
        added = deviation[..., None] * (got - got[..., :1]) + ANCHORS[0] - residual
    return np.asarray(np.nan_to_num(added[..., len(ANCHORS) :], nan=np.inf))
