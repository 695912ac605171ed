"""Judge random outputs by a few statistics, each a share with an expected value and a margin.

If a share is random, its margin is such that correct code fails once in 1/FALSE_ALARM runs. For n
independent draws with an expected share p,

    P(|share - p| > t) <= 2 exp(-2 n t^2)                                   by Hoeffding
    P(|share - p| > t) <= 2 exp(-n t^2 / (2 p (1 - p) + 2 t / 3))           by Bernstein
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from tensormark.exercise import Tensors

FALSE_ALARM = 1e-9  # the chance that correct code fails; cheap, as there are many draws
EXACT = 1e-6  # margin of a share that is not random; it allows for rounding only
BLUR = 0.06  # the least tolerance between the shares of two programs with the same mistake


def margin(draws: int, expected: float = 0.5) -> float:
    """Return how far a share of this many draws may be off; less if `expected` is near 0 or 1."""
    bits = np.log(2 / FALSE_ALARM) / draws
    bernstein = bits / 3 + np.sqrt((bits / 3) ** 2 + 2 * bits * expected * (1 - expected))
    return float(min(np.sqrt(bits / 2), bernstein))


@dataclasses.dataclass(frozen=True)
class Statistic:
    """A share of a call's outputs, and its expected value.

    Attributes:
        says: the message if it is off.
        expected: its value for correct code.
        margin: how far it may be off.
        blur: the least tolerance between the shares of two programs with the same mistake.
    """

    says: str
    expected: float
    margin: float = EXACT
    blur: float = BLUR


@dataclasses.dataclass(frozen=True)
class Statistics:
    """The statistics by which the outputs of one call are judged.

    Attributes:
        shares: at most four.
        read: computes them, in this order, from outputs and inputs.
    """

    shares: Sequence[Statistic]
    read: Callable[[Tensors, Tensors], Sequence[float]]

    def measure(self, outputs: Tensors, inputs: Tensors) -> np.ndarray:
        """Return the shares, float64 (number of shares,)."""
        return np.array(self.read(outputs, inputs), dtype=np.float64)

    @property
    def spread(self) -> np.ndarray:
        """How far apart the shares of equivalent code may be, (number of shares,)."""
        # halved because `close` multiplies this by one plus the largest share
        return np.array([max(share.margin, share.blur) / 2 for share in self.shares])

    def __call__(self, outputs: Tensors, inputs: Tensors) -> str | None:
        """Return what is wrong with the first share that is off, or None."""
        for share, value in zip(self.shares, self.measure(outputs, inputs), strict=True):
            if not abs(value - share.expected) <= share.margin:  # true for NaN
                about = "" if share.margin == EXACT else "about "
                return f"{share.says}: {value:z.3f}, expected {about}{share.expected:.3g}"
        return None
