"""Judge random outputs by a few shares, each with an expected value and a margin.

If a share is random, its margin is such that correct code fails once in 1/FALSE_ALARM runs. For n
independent draws, of which a share p is expected,

    P(|share - p| > t) <= 2 exp(-2 n t^2)                                   by Hoeffding
    P(|share - p| > t) <= 2 exp(-n t^2 / (2 p (1 - p) + 2 t / 3))           by Bernstein
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from tensormark.exercise import Tensors
from tensormark.toolkit.dropout import FALSE_ALARM

NEVER = 1e-6  # margin of a share that must be exact
BLUR = 0.06  # how far shares of the same mistake may be apart, at least


def margin(draws: int, expected: float = 0.5) -> float:
    """Return how far a share of this many draws may be off; less if few or most are expected."""
    bits = np.log(2 / FALSE_ALARM) / draws
    bernstein = bits / 3 + np.sqrt((bits / 3) ** 2 + 2 * bits * expected * (1 - expected))
    return float(min(np.sqrt(bits / 2), bernstein))


@dataclasses.dataclass(frozen=True)
class Statistic:
    """One share.

    Attributes:
        says: what is wrong if it is off.
        expected: the expected value.
        margin: how far it may be off.
        blur: how far shares of the same mistake may be apart, at least.
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
        read: computes them from outputs and inputs, in this order.
    """

    shares: Sequence[Statistic]
    read: Callable[[Tensors, Tensors], Sequence[float]]

    def measure(self, outputs: Tensors, inputs: Tensors) -> np.ndarray:
        """Compute the shares."""
        return np.array(self.read(outputs, inputs), dtype=np.float64)

    @property
    def spread(self) -> np.ndarray:
        """How far the shares of equivalent code may be apart."""
        return np.array([max(share.margin, share.blur) / 2 for share in self.shares])  # see `close`

    def __call__(self, outputs: Tensors, inputs: Tensors) -> str | None:
        """Say what is wrong, or None."""
        for share, value in zip(self.shares, self.measure(outputs, inputs), strict=True):
            if not abs(value - share.expected) <= share.margin:
                about = "" if share.margin == NEVER else "about "
                return f"{share.says}: {value:z.3f}, expected {about}{share.expected:.3g}"
        return None
