"""Derive tolerances between the noise of honest code and the smallest error of a wrong variant.

Differences are measured as |got - expected| / (1 + |expected|), so one number t serves as both rtol
and atol. It is 30 times the noise, small enough to catch unforeseen mistakes too, or the geometric
mean of noise and smallest error if that is less. There are three kinds: outputs and gradients where
students work in float32, and everything where they work in float64.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.exercise import NUMPY, Call, Exercise
from tensormark.judging.fingerprints import tolerance_kind
from tensormark.literals import NAME
from tensormark.references import Recording
from tensormark.sandbox.interface import Reply
from tensormark.usage import UserError
from tensormark.worker.values import differences, unit_of, unpacked

KINDS = ("outputs", "gradients", "float64")
LEAST_RATIO = 10.0  # smallest error over noise; below this no tolerance is safe
MARGIN = 4.0  # other float32 libraries round differently: measured noise is multiplied by this
FACTOR = 3.0  # the most by which tolerances differ between processors
MAX_NOISE = 1e-3  # of honest code, whatever its tolerances
LITERALS = f"in/{NAME}"  # holds plain values
ROOM = 30.0  # tolerance over noise, if the smallest error leaves that much room
# Correct code may round to float32 somewhere in a float64 call, such as in the softmax.
FLOOR = float(np.finfo(np.float32).eps)
Errors = dict[str, float]  # the largest difference of each kind


def _round_digit(value: float) -> float:
    """Round to one significant digit, so that other processors get the same number."""
    return float(f"{value:.0e}")


def difference(name: str, got: np.ndarray | None, expected: np.ndarray, call: Call) -> float:
    """Return the largest scaled difference; infinite for a wrong shape, or other NaN or infinities.

    Args:
        name: under which it is recorded of the call, such as "out/output". Without torch, tiny
            numbers are compared by their size.
    """
    if got is None:
        return math.inf
    if name == LITERALS or (call.is_plain and name.startswith("out/")):
        parts = differences(unpacked(got), unpacked(expected), "")
        return max((each.size for each in parts), default=0.0)
    finite = np.isfinite(expected)
    if got.shape != expected.shape or (np.isfinite(got) != finite).any():
        return math.inf
    right = expected[finite]
    unit = unit_of(right) if call.arrays == NUMPY else 1.0
    scaled = np.abs(got[finite].astype(np.float64) - right) / (unit + np.abs(right))
    return float(np.max(scaled, initial=0.0))


def _errors(
    exercise: Exercise, right: Sequence[Recording], other: Sequence[Reply], own: bool = False
) -> Errors:
    """Return the largest difference of each kind.

    Args:
        own: only in calls without stand-ins, because honest code may bypass these.
    """
    largest = dict.fromkeys(KINDS, 0.0)
    for (probe, call), recording, reply in zip(exercise.asked, right, other, strict=True):
        called = reply.status == "ok" and "lacks" not in reply.message
        if not called or probe.draws(call) or (own and call.stand_ins):
            continue
        for name, value in recording.answers.items():
            kind = tolerance_kind(name, call)
            distance = difference(name, reply.tensors.get(name), value, call)
            largest[kind] = max(largest[kind], distance)
    return largest


def _smallest(exercise: Exercise, noise: Errors, errors: Mapping[str, Errors]) -> Errors:
    """Return the smallest error of each kind; infinite if no variant counts for it.

    A variant counts for the kind in which it differs most. One that differs in none, such as
    dropout with a wrong rate, does not count.

    Raises:
        UserError: an error is less than ten times the noise.
    """
    smallest = dict.fromkeys(KINDS, math.inf)
    for name, error in errors.items():
        kind = max(KINDS, key=lambda kind: error[kind] / noise[kind])
        if error[kind] <= noise[kind]:
            continue
        if error[kind] < LEAST_RATIO * noise[kind]:
            raise UserError(
                f"{exercise.id}: the error of {name} is {error[kind]:.0e} ({kind}), less than "
                f"{LEAST_RATIO:.0f} times the noise of honest code, {noise[kind]:.0e}"
            )
        smallest[kind] = min(smallest[kind], _round_digit(error[kind]))
    return smallest


def measure(
    exercise: Exercise,
    right: Sequence[Recording],
    working: Sequence[Reply],
    honest: Mapping[str, Sequence[Reply]],
    wrong: Mapping[str, Sequence[Reply]],
) -> dict[str, Any]:
    """Derive one exercise's tolerances, as they are in the manifest, with what they come from.

    Args:
        right: the solution's answers in float64.
        working: the solution's replies in the types that students work in.
        honest: the replies of other correct solutions, in these types, by id.
        wrong: the replies of each known wrong variant, in these types.

    Raises:
        UserError: honest code is wrong, or the smallest error is less than ten times the noise.
    """
    correct = [_errors(exercise, right, working)]
    for name, replies in honest.items():
        correct.append(_errors(exercise, right, replies, own=True))
        worst = max(correct[-1].values())
        if worst > MAX_NOISE:
            far = f"is {worst:.0e} off" if math.isfinite(worst) else "returns something else"
            raise UserError(f"{exercise.id}: honest {name} {far}, compared with the solution")
    noise = {
        kind: _round_digit(MARGIN * max(FLOOR, *(errors[kind] for errors in correct)))
        for kind in KINDS
    }
    errors = {name: _errors(exercise, right, replies) for name, replies in wrong.items()}
    tolerance = {}
    measured = {}
    for kind, smallest in _smallest(exercise, noise, errors).items():
        limit = _round_digit(min(math.sqrt(noise[kind] * smallest), ROOM * noise[kind]))
        tolerance[kind] = {"rtol": limit, "atol": limit}
        known = math.isfinite(smallest)  # JSON has no infinity
        measured[kind] = {
            "noise": noise[kind],
            "smallest_error": smallest if known else None,
            "ratio": _round_digit(smallest / noise[kind]) if known else None,
        }
    return {"tolerance": tolerance, "measured": measured}


def moved_tolerances(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield the tolerances of two entries that differ by more than the processor."""
    for kind in KINDS:
        old = before["tolerance"][kind]["atol"]
        new = now["tolerance"][kind]["atol"]
        if not new / FACTOR <= old <= new * FACTOR:
            yield f"the tolerance of {kind} was {old:.0e}, is {new:.0e}"
