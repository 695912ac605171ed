"""Which entries of a new row of fingerprints depend on chance.

Another processor rounds sums and exponentials differently, as if inputs differed in their last bit:
an entry that changes with that is UNDECIDED. An entry that changes with the seed is RANDOM, or
UNDECIDED if it can come out right.
"""

import numpy as np

from tensormark.exercise import Tensors
from tensormark.judging.diagnose import close
from tensormark.judging.fingerprints import RANDOM, UNDECIDED, Observation, entry


class Marks:
    """The entries of one call's answer that depend on chance.

    Attributes:
        answer: with the rows so far, the solution's first; without any, it is the solution's.
        changed: (entries,), which of them another answer of the same code has otherwise.
        right: (entries,), which of them are the solution's in one of these answers.
    """

    def __init__(self, answer: Observation) -> None:
        self.answer = answer
        self.solution = answer.rows[0] if len(answer.rows) else answer.got
        self.right = close(answer.got, self.solution, answer.allowed)
        self.changed = np.zeros_like(self.right)

    def compare(self, other: Observation, limit: np.ndarray) -> None:
        """Note how the answer changes with another seed, or with a nudge of the inputs.

        Args:
            limit: (entries, WIDTH), how far it may be off without having changed.
        """
        self.changed |= ~close(self.answer.got, other.got, limit)
        self.right |= close(self.solution, other.got, self.answer.allowed)

    def row(self) -> np.ndarray:
        """Return the answer's fingerprints with its marks: (entries, WIDTH)."""
        got = self.answer.got
        random = self.changed & ~self.right & self.answer.drew
        row = got.copy()
        row[self.changed] = entry(UNDECIDED)
        row[random] = entry(RANDOM)
        row[random, 1] = got[random, 0]  # the form
        return row


def nudged(inputs: Tensors, dtype: str, seed: int) -> Tensors:
    """Return inputs that differ in their last bit, each number up or down; the same for seed 0.

    Numbers of few bits stay: in masks, patterns and rows of equal values, they make sums exact on
    every processor.
    """
    if not seed:
        return inputs
    draw = np.random.default_rng(seed)
    unit = float(np.finfo(dtype).eps)
    tensors = dict(inputs)
    for name, value in inputs.items():
        if value.dtype.kind == "f":
            other = value * (1 + unit * draw.choice((-1.0, 1.0), size=value.shape))
            with np.errstate(over="ignore"):
                tensors[name] = np.where(value.astype(np.float16) == value, value, other)
    return tensors
