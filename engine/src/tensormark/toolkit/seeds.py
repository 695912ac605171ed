"""Judge whether a function draws from the generator that it is given, and from no other.

A call of the kind "seeds" (worker/calls.py) has the function called once with each of a few seeds,
in an order that private references draw anew, and once more with the last generator as it was left.
The results come back as they are, and are compared here.
"""

import dataclasses
import itertools

import numpy as np

from tensormark.exercise import Tensors
from tensormark.references import under

SEEDS = "seeds"  # the input that lists them
USED = "used"  # in place of a seed's number: the generator that has been drawn from
DIFFERENT = 3  # seeds
EACH = 2  # calls with each seed


def draw_seeds(rng: np.random.Generator) -> Tensors:
    """Draw the seeds of the calls, as an input."""
    different = rng.choice(1 << 30, DIFFERENT, replace=False)
    return {SEEDS: rng.permutation(np.repeat(different, EACH))}


def _equal(first: Tensors, second: Tensors) -> bool:
    return all(np.array_equal(value, second[name]) for name, value in first.items())


@dataclasses.dataclass(frozen=True)
class Seeded:
    """Judges the results of all calls.

    Attributes:
        says: what is wrong if they do not depend on the seeds alone.
    """

    says: str

    def measure(self, outputs: Tensors, inputs: Tensors) -> np.ndarray:
        """Return three shares that should be 0.

        They are those of calls with equal seeds whose results differ, of calls with different seeds
        whose results are equal, and of used generators that give the same result again.
        """
        calls = [(seed, under(outputs, f"{number}/")) for number, seed in enumerate(inputs[SEEDS])]
        alike = []
        unlike = []
        for (first, one), (second, other) in itertools.combinations(calls, 2):
            equal = _equal(one, other)
            if first == second:
                alike.append(not equal)
            else:
                unlike.append(equal)
        _, last = calls[-1]
        repeats = _equal(under(outputs, f"{USED}/"), last)
        return np.array([np.mean(alike), np.mean(unlike), float(repeats)])

    @property
    def spread(self) -> np.ndarray:
        """How far each share may be off: programs with the same mistake have equal ones."""
        return np.full(3, 0.25)

    def __call__(self, outputs: Tensors, inputs: Tensors) -> str | None:
        """Return what is wrong, or None."""
        return self.says if self.measure(outputs, inputs).any() else None
