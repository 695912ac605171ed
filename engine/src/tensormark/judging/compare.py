"""Compare an array with a reference, strictly: names, shape, dtype, finite, then values.

`numpy.allclose` is not used: it broadcasts, and a comparison with NaN must not pass.
"""

import dataclasses
import math
from typing import Literal

import numpy as np

from tensormark.exercise import Axes
from tensormark.worker.values import differences, outline, unit_of, unpacked

# An error as of a rounded constant or of a type with few digits; see `Pair.error`. It is not 1%, as
# the error of a factor such as 1.01 is, on one side of it or the other by rounding.
NEARLY = 0.0095


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """A difference up to atol * unit + rtol * |expected| is allowed.

    Attributes:
        rtol, atol: come from the manifest.
        unit: see `unit_of` in worker/values.py; 1 for tensors of torch.
    """

    rtol: float
    atol: float
    unit: float = 1.0

    def allowed(self, expected: np.ndarray) -> np.ndarray:
        """Return how far each value may be off."""
        return np.asarray(self.atol * self.unit + self.rtol * np.abs(expected))


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two arrays of equal shape that differ, and the tolerance."""

    name: str
    got: np.ndarray
    expected: np.ndarray
    tolerance: Tolerance

    @property
    def error(self) -> float:
        """The largest difference, as a part of the largest expected value."""
        size = float(np.abs(self.expected).max()) or 1.0
        return float(np.abs(self.got.astype(np.float64) - self.expected).max()) / size

    @property
    def nearly(self) -> bool:
        """Whether the values are nearly right, so that they say little about what went where."""
        wrong = self.got != self.expected
        sizes = np.maximum(np.abs(self.expected[wrong]), 1e-30)
        typical = np.median(np.abs(self.got[wrong] - self.expected[wrong]) / sizes)
        return bool(max(self.error, typical) < NEARLY)


# What is wrong, by line: an array (found in this module); gradients, inputs and state, or random
# outputs (checks.py); a call that gave no answer (replies.py, trial.py); or an answer that makes a
# check itself raise (checks.py).
Kind = Literal[
    "names", "shape", "dtype", "finite", "values",
    "gradient", "changed", "draw",
    "raised", "blocked", "forbidden",
    "unreadable",
]  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Mismatch:
    """What is wrong with an answer, such as an array that differs from the expected one.

    Attributes:
        name: the name of the tensor, part of the state, function or exercise that is wrong.
        lines: the report; it contains no reference values.
        numbers: a further line that does contain one.
        headline: a short text for the exercise's line; empty to use the probe's.
        pair: the arrays, if their values differ.
        advised: whether the last of the lines says what to do about it.
    """

    kind: Kind
    name: str
    lines: tuple[str, ...]
    headline: str = ""
    numbers: str = ""
    pair: Pair | None = None
    advised: bool = False


def _place(which: str, index: tuple[int, ...], array: np.ndarray, axes: Axes) -> str:
    """Describe an index of an array in words, unless it has only one value."""
    if array.size == 1:
        return ""
    words = axes.get(len(index))
    if words is None:
        return f", {which} at index {tuple(int(i) for i in index)}"
    place = ", ".join(f"{word} {int(i)}" for word, i in zip(words, index, strict=True))
    return f", {which} at ({place})"


def compare(
    name: str,
    got: np.ndarray,
    expected: np.ndarray,
    tolerance: Tolerance | None,
    dtype: str,
    axes: Axes,
) -> Mismatch | None:
    """Compare one array with its reference.

    Args:
        name: the array's name in messages.
        got: the student's array.
        expected: the reference, float64 (or integers).
        tolerance: how far a value may be off; None: values are random, so that only the shape
            counts, and that they are finite.
        dtype: the required type, such as "float32", where integer references require their own;
            empty: any type that holds the values, as numpy changes types on the way.
        axes: the names of the array's axes in messages.

    Returns:
        None if they agree.
    """
    if got.shape != expected.shape:
        # a tensor of torch's without axes is sent as (1,)
        shape = "a single value" if got.shape == ((1,) if dtype else ()) else got.shape
        return Mismatch("shape", name, (f"{name} should have shape {expected.shape}, got {shape}",))
    wanted = dtype if expected.dtype.kind == "f" else expected.dtype
    if tolerance is not None and dtype and got.dtype != wanted:
        return Mismatch("dtype", name, (f"{name} should be {wanted}, got {got.dtype}",))
    bad = np.argwhere(~np.isfinite(got))
    if len(bad):
        where = _place("first", tuple(bad[0]), got, axes)
        lines = (f"{len(bad)} of {got.size} values of {name} are NaN or inf{where}",)
        pair = Pair(name, got, expected, tolerance) if tolerance is not None else None
        return Mismatch("finite", name, lines, pair=pair)
    return None if tolerance is None else compare_values(name, got, expected, tolerance, axes)


def compare_plain(
    name: str, got: np.ndarray, expected: np.ndarray, tolerance: Tolerance
) -> Mismatch | None:
    """Compare two plain values, each packed in an array; see worker/values.py.

    Returns:
        None if they agree.
    """
    try:
        value = unpacked(got)
    except (ValueError, TypeError) as error:
        return Mismatch("unreadable", name, (f"{name} cannot be read: {error}",))
    right = unpacked(expected)
    unit = unit_of(outline(right)[1])
    parts = differences(value, right, name, unit)
    wrong = [each for each in parts if each.size > tolerance.atol]
    if not wrong:
        return None
    place, own, other, size = wrong[0]
    count = f", the first of {len(wrong)} parts that are" if wrong[1:] else ""
    lines = (f"{place} is wrong{count}",)
    allowed = ""
    if math.isfinite(size):  # both are numbers
        allowed = f", allowed difference {tolerance.atol * (unit + abs(float(other))):.0e}"
    return Mismatch("values", name, lines, numbers=f"{place} is {own}, expected {other}{allowed}")


def compare_values(
    name: str, got: np.ndarray, expected: np.ndarray, tolerance: Tolerance, axes: Axes
) -> Mismatch | None:
    """Compare finite values of equal shape; None if all are within the tolerance."""
    error = np.abs(got.astype(np.float64) - expected)
    allowed = tolerance.allowed(expected)
    if got.dtype.kind != "f" and expected.dtype.kind != "f":  # integers are right or wrong
        allowed = np.zeros_like(allowed)
    wrong = ~(error <= allowed)
    if not wrong.any():
        return None
    worst = tuple(int(i) for i in np.unravel_index(np.argmax(error - allowed), error.shape))
    where = _place("worst", worst, got, axes)
    lines = (f"{int(wrong.sum())} of {got.size} values of {name} differ{where}",)
    if expected.dtype.kind == "f":
        digits = max(4, 1 - math.floor(math.log10(error[worst])))  # enough to tell them apart
        numbers = (
            f"expected {float(expected[worst]):z.{digits}f}, got {float(got[worst]):z.{digits}f}, "
            f"allowed difference {float(allowed[worst]):.0e}"
        )
    else:
        numbers = f"expected {expected[worst]}, got {got[worst]}"
    pair = Pair(name, got, expected, tolerance)
    return Mismatch("values", name, lines, numbers=numbers, pair=pair)
