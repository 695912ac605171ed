"""Judges what is drawn at random by a few shares, each with what it should be and a margin.

Where chance decides a share, the margin is such that right code fails once in 1/FALSE_ALARM runs:
by Hoeffding, P(|share - expected| > t) <= 2 exp(-2 n t^2) for n independent draws.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from grader.assignment.dropout import FALSE_ALARM
from grader.exercise import Tensors

NEVER = 1e-6  # margin of a share that must be 0
BLUR = 0.06  # how far shares of two who make the same mistake may lie apart, at least


def margin(draws: int) -> float:
    """Return how far a share of so many draws may be off."""
    return float(np.sqrt(np.log(2 / FALSE_ALARM) / (2 * draws)))


@dataclasses.dataclass(frozen=True)
class Statistic:
    """One share.

    Attributes:
        says: what is wrong when it is off.
        expected: what it should be.
        margin: by how much it may differ.
        blur: how far the shares of two who make the same mistake may lie apart, at least.
    """

    says: str
    expected: float
    margin: float = NEVER
    blur: float = BLUR


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Judges one call.

    Attributes:
        shares: at most four.
        read: reads them off outputs and inputs, in this order.
    """

    shares: Sequence[Statistic]
    read: Callable[[Tensors, Tensors], Sequence[float]]

    def measure(self, outputs: Tensors, inputs: Tensors) -> np.ndarray:
        """Read the shares off."""
        return np.array(self.read(outputs, inputs), dtype=np.float64)

    @property
    def spread(self) -> np.ndarray:
        """How far those of two who do the same may lie apart."""
        return np.array([max(share.margin, share.blur) / 2 for share in self.shares])  # see `close`

    def __call__(self, outputs: Tensors, inputs: Tensors) -> str | None:
        """Say what is wrong, or None."""
        for share, value in zip(self.shares, self.measure(outputs, inputs), strict=True):
            if not abs(value - share.expected) <= share.margin:
                about = "" if share.margin == NEVER else "about "
                return f"{share.says}: {value:.3f}, expected {about}{share.expected:g}"
        return None
