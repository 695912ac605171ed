"""Derive tolerances between the noise of honest code and the smallest error of a wrong variant.

Differences are measured as |got - expected| / (1 + |expected|), so one number t serves as both rtol
and atol. It is 30 times the noise, small enough to catch unforeseen mistakes too, or the geometric
mean of noise and smallest error if that is less. There are three kinds: outputs and gradients where
students work in float32, and everything where they work in float64.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
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


def _settled(
    recorded: Mapping[str, float | None], measured: Mapping[str, float]
) -> dict[str, float]:
    """Return measured numbers, or recorded ones where these may differ only by the processor."""
    numbers = dict(measured)
    for kind, value in recorded.items():
        old = math.inf if value is None else value
        if measured[kind] / FACTOR <= old <= measured[kind] * FACTOR:
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
    exercise: Exercise, right: Sequence[Reply], other: Sequence[Reply], kind: str, own: bool
) -> Iterator[float]:
    """Yield the differences of all tensors of one kind.

    Args:
        own: only in calls without stand-ins, because honest code may bypass these.
    """
    for (probe, call), reference, reply in zip(exercise.asked, right, other, strict=True):
        if probe.draws(call) or reply.status != "ok" or (own and call.stand_ins):
            continue
        if "lacks" in reply.message:  # it was not called
            continue
        for name, value in reference.tensors.items():
            if not name.startswith("after/") and tolerance_kind(name, call) == kind:
                yield _difference(reply.tensors.get(name), value)


def _noises(
    exercise: Exercise,
    right: Sequence[Reply],
    working: Sequence[Reply],
    honest: Mapping[str, Sequence[Reply]],
) -> dict[str, float]:
    noises = {}
    for kind in KINDS:
        spreads = [max(_errors(exercise, right, working, kind, False), default=0.0)]
        spreads += [
            max(_errors(exercise, right, replies, kind, True), default=0.0)
            for replies in honest.values()
        ]
        noises[kind] = _round_digit(MARGIN * max(*spreads, FLOOR))
    return noises


def measure(
    exercise: Exercise,
    right: Sequence[Reply],
    working: Sequence[Reply],
    honest: Mapping[str, Sequence[Reply]],
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
    noise = _noises(exercise, right, working, honest)
    noise = _settled({kind: numbers["noise"] for kind, numbers in before.items()}, noise)
    smallest = dict.fromkeys(KINDS, math.inf)
    for name, replies in wrong.items():
        error = {
            kind: max(_errors(exercise, right, replies, kind, False), default=0.0) for kind in KINDS
        }
        kind = max(KINDS, key=lambda kind: error[kind] / noise[kind])
        if noise[kind] < error[kind] < LEAST_RATIO * noise[kind]:
            raise UserError(
                f"{exercise.id}: the error of {name} is {error[kind]:.0e} ({kind}), less than "
                f"{LEAST_RATIO:.0f} times the noise of honest code, {noise[kind]:.0e}"
            )
        if error[kind] > noise[kind]:
            smallest[kind] = min(smallest[kind], error[kind])
    smallest = {kind: _round_digit(value) for kind, value in smallest.items()}
    smallest = _settled(
        {kind: numbers["smallest_error"] for kind, numbers in before.items()}, smallest
    )
    tolerance = {
        kind: _round_digit(min(math.sqrt(noise[kind] * smallest[kind]), ROOM * noise[kind]))
        for kind in KINDS
    }
    recorded = entry["tolerance"] if entry else {}
    tolerance = _settled({kind: numbers["atol"] for kind, numbers in recorded.items()}, tolerance)
    return Measured(noise, smallest, tolerance)
