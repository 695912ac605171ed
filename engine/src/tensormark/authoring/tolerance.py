"""Derive tolerances between the noise of honest code and the smallest error of a wrong variant.

Differences are measured as |got - expected| / (1 + |expected|), so one number t serves as both rtol
and atol. It is 30 times the noise, small enough to catch unforeseen mistakes too, or the geometric
mean of noise and smallest error if that is less. There are three kinds: outputs and gradients where
students work in float32, and everything where they work in float64.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.exercise import Exercise
from tensormark.judging.fingerprints import tolerance_kind
from tensormark.sandbox.interface import Reply
from tensormark.usage import UserError

KINDS = ("outputs", "gradients", "float64")
LEAST_RATIO = 10.0  # smallest error over noise; below this no tolerance is safe
MARGIN = 4.0  # other float32 libraries round differently: measured noise is multiplied by this
FACTOR = 3.0  # the most by which measured numbers differ between processors
ROOM = 30.0  # tolerance over noise, if the smallest error leaves that much room
# Correct code may round to float32 somewhere in a float64 call, such as in the softmax.
FLOOR = float(np.finfo(np.float32).eps)


def _round_digit(value: float) -> float:
    """Round to one significant digit, so that other processors get the same number."""
    return float(f"{value:.0e}") if math.isfinite(value) else value


def _finite(value: float) -> float | None:
    """Return a number as JSON can hold it: None for infinity, if no variant counts for a kind."""
    return value if math.isfinite(value) else None


def _difference(got: np.ndarray | None, expected: np.ndarray) -> float:
    """Return the largest scaled difference; infinite for a wrong shape or NaN or inf."""
    if got is None or got.shape != expected.shape or not np.isfinite(got).all():
        return math.inf
    scaled = np.abs(got.astype(np.float64) - expected) / (1.0 + np.abs(expected))
    return float(np.max(scaled, initial=0.0))


def _settled(recorded: Mapping[str, float | None], now: Mapping[str, float]) -> dict[str, float]:
    """Return measured numbers, or recorded ones where these may differ only by the processor."""
    numbers = dict(now)
    for kind, value in recorded.items():
        old = math.inf if value is None else value
        if now[kind] / FACTOR <= old <= now[kind] * FACTOR:
            numbers[kind] = old
    return numbers


@dataclasses.dataclass(frozen=True)
class Measured:
    """Noise, smallest error of a wrong variant, and the tolerance between them, for each kind."""

    noise: dict[str, float]
    smallest: dict[str, float]
    tolerance: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """Return its part of the manifest."""
        return {
            "tolerance": {kind: {"rtol": t, "atol": t} for kind, t in self.tolerance.items()},
            "measured": {
                kind: {
                    "noise": self.noise[kind],
                    "smallest_error": _finite(self.smallest[kind]),
                    "ratio": _finite(_round_digit(self.smallest[kind] / self.noise[kind])),
                }
                for kind in KINDS
            },
        }


def _errors(
    exercise: Exercise, right: Sequence[Reply], other: Sequence[Reply], own: bool = False
) -> dict[str, float]:
    """Return the largest difference of each kind.

    Args:
        own: only in calls without stand-ins, because honest code may bypass these.
    """
    largest = dict.fromkeys(KINDS, 0.0)
    for (probe, call), reference, reply in zip(exercise.asked, right, other, strict=True):
        called = reply.status == "ok" and "lacks" not in reply.message
        if not called or probe.draws(call) or (own and call.stand_ins):
            continue
        for name, value in reference.tensors.items():
            if not name.startswith("after/"):
                kind = tolerance_kind(name, call)
                difference = _difference(reply.tensors.get(name), value)
                largest[kind] = max(largest[kind], difference)
    return largest


def measure(
    exercise: Exercise,
    right: Sequence[Reply],
    working: Sequence[Reply],
    honest: Sequence[Sequence[Reply]],
    wrong: Mapping[str, Sequence[Reply]],
    entry: Mapping[str, Any] | None = None,
) -> Measured:
    """Derive one exercise's tolerances.

    A variant counts for the kind in which it differs most. One that differs in none, such as
    dropout with a wrong rate, does not affect tolerances. Recorded numbers stay where new ones
    differ by chance; the recorded noise then also decides for which kind a variant counts.

    Args:
        right: the solution's replies in float64.
        working: the solution's replies in the types that students work in.
        honest: the replies of other correct solutions, in these types.
        wrong: the replies of each known wrong variant, in these types.
        entry: the exercise's entry in the manifest.

    Raises:
        UserError: the smallest error is less than ten times the noise.
    """
    before = entry["measured"] if entry else {}
    correct = [_errors(exercise, right, working)]
    correct += [_errors(exercise, right, replies, own=True) for replies in honest]
    noise = {
        kind: _round_digit(MARGIN * max(FLOOR, *(errors[kind] for errors in correct)))
        for kind in KINDS
    }
    noise = _settled({kind: numbers["noise"] for kind, numbers in before.items()}, noise)
    smallest = dict.fromkeys(KINDS, math.inf)
    for name, replies in wrong.items():
        error = _errors(exercise, right, replies)
        kind = max(KINDS, key=lambda kind: error[kind] / noise[kind])
        if noise[kind] < error[kind] < LEAST_RATIO * noise[kind]:
            raise UserError(
                f"{exercise.id}: the error of {name} is {error[kind]:.0e} ({kind}), less than "
                f"{LEAST_RATIO:.0f} times the noise of honest code, {noise[kind]:.0e}"
            )
        if error[kind] > noise[kind]:
            smallest[kind] = min(smallest[kind], error[kind])
    smallest = {kind: _round_digit(value) for kind, value in smallest.items()}
    recorded = {kind: numbers["smallest_error"] for kind, numbers in before.items()}
    smallest = _settled(recorded, smallest)
    tolerance = {
        kind: _round_digit(min(math.sqrt(noise[kind] * smallest[kind]), ROOM * noise[kind]))
        for kind in KINDS
    }
    limits = entry["tolerance"] if entry else {}
    tolerance = _settled({kind: limit["atol"] for kind, limit in limits.items()}, tolerance)
    return Measured(noise, smallest, tolerance)
