"""Derive tolerances: between the noise of honest code and the smallest error of a wrong variant.

Differences are measured as |got - expected| / (1 + |expected|), so that one number t serves as both
rtol and atol. t is 30 times the noise, so that mistakes nobody has thought of are caught too, or
the geometric mean of noise and smallest error where that is less.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from grader.cases import Exercise
from grader.sandbox import Reply

LEAST_RATIO = 10.0  # smallest error over noise; below it no tolerance would be safe
# Honest code sums in other orders and other float32 libraries round otherwise; the solution's own
# noise is taken this many times over.
MARGIN = 4.0
ROOM = 30.0  # tolerance over noise where mistakes leave as much room
KINDS = {"outputs": "out/", "gradients": "grad/"}


class ToleranceError(ValueError):
    """Noise and mistakes cannot be told apart; the message says where."""


def round_digit(value: float) -> float:
    """Round to one significant digit, so that another processor finds the same number."""
    return float(f"{value:.0e}") if math.isfinite(value) else value


def difference(got: np.ndarray, expected: np.ndarray | None) -> float:
    """Return the largest scaled difference; infinite for other shapes and values not finite."""
    if expected is None or got.shape != expected.shape or not np.isfinite(got).all():
        return math.inf
    scaled = np.abs(got.astype(np.float64) - expected) / (1.0 + np.abs(expected))
    return float(np.max(scaled, initial=0.0))


@dataclasses.dataclass(frozen=True)
class Measured:
    """Noise, smallest error of a wrong variant, and the tolerance between, for each kind."""

    noise: dict[str, float]
    smallest: dict[str, float]
    tolerance: dict[str, float]

    def differs(self, name: str, got: np.ndarray, expected: np.ndarray | None) -> bool:
        """Say whether a tensor is off by more than the tolerance."""
        kind = "gradients" if name.startswith(KINDS["gradients"]) else "outputs"
        return difference(got, expected) > self.tolerance[kind]

    def as_json(self) -> dict[str, Any]:
        """Return what the manifest says of it."""
        return {
            "tolerance": {kind: {"rtol": t, "atol": t} for kind, t in self.tolerance.items()},
            "measured": {
                kind: {
                    "noise": self.noise[kind],
                    "smallest_error": self.smallest[kind],
                    "ratio": round_digit(self.smallest[kind] / self.noise[kind]),
                }
                for kind in KINDS
            },
        }


def errors(right: Sequence[Reply], other: Sequence[Reply], prefix: str) -> Iterator[float]:
    """Yield the differences of all tensors of one kind that both replies have."""
    for reference, reply in zip(right, other, strict=True):
        for name, value in reference.tensors.items():
            if name.startswith(prefix) and name in reply.tensors:
                yield difference(reply.tensors[name], value)


def measure(
    exercise: Exercise,
    right: Sequence[Reply],
    working: Sequence[Reply],
    wrong: Mapping[str, Sequence[Reply]],
) -> Measured:
    """Derive one exercise's tolerances.

    Args:
        right: the solution's replies in float64.
        working: the solution's replies in the types that students work in.
        wrong: the replies of each known wrong variant, in float64.

    Raises:
        ToleranceError: the smallest error is less than ten times the noise.
    """
    fixed = [number for number, probe in enumerate(probes_of(exercise)) if probe.examine is None]
    right, working = [right[n] for n in fixed], [working[n] for n in fixed]
    wrong = {name: [replies[n] for n in fixed] for name, replies in wrong.items()}
    noise, smallest, tolerance = {}, {}, {}
    for kind, prefix in KINDS.items():
        spread = MARGIN * max(errors(right, working, prefix), default=0.0)
        noise[kind] = round_digit(max(spread, MARGIN * float(np.finfo(np.float32).eps)))
        # an error below the noise is no error of this kind: the variant shows in the other kind
        off = [max(errors(right, replies, prefix), default=0.0) for replies in wrong.values()]
        seen = [error for error in off if error > noise[kind] and math.isfinite(error)]
        smallest[kind] = round_digit(min(seen, default=ROOM**2 * noise[kind]))
        if smallest[kind] < LEAST_RATIO * noise[kind]:
            raise ToleranceError(
                f"{exercise.id}: the smallest error of a variant's {kind} is {smallest[kind]:.0e}, "
                f"less than {LEAST_RATIO:.0f} times the noise of honest code, {noise[kind]:.0e}"
            )
        between = math.sqrt(noise[kind] * smallest[kind])
        tolerance[kind] = round_digit(min(between, ROOM * noise[kind]))
    return Measured(noise, smallest, tolerance)


def probes_of(exercise: Exercise) -> list[Any]:
    """Return the probe of each call."""
    return [probe for probe in exercise.probes for _ in probe.calls]
