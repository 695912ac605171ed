"""Compare an array with a reference, strictly: names, shape, dtype, finite, then values.

`numpy.allclose` is not used: it broadcasts, and a comparison with NaN must not pass.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

Axes = Mapping[int, Sequence[str]]  # number of axes to their names


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """A difference up to atol + rtol * |expected| is allowed; both come from the manifest."""

    rtol: float
    atol: float


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two arrays of equal shape that differ, and by how much they may."""

    name: str
    got: np.ndarray
    expected: np.ndarray
    tolerance: Tolerance


@dataclasses.dataclass(frozen=True)
class Mismatch:
    """Why an array differs from the expected one.

    Attributes:
        kind: names, shape, dtype, finite or values.
        lines: the report, at most two lines; no value of the reference is in it.
        numbers: a further line, with such a value.
        headline: a few words for the exercise's line; empty to use the probe's.
        pair: the arrays, if their values are what differs.
    """

    kind: str
    name: str
    lines: tuple[str, ...]
    headline: str = ""
    numbers: str = ""
    pair: Pair | None = None


def _place(index: tuple[int, ...], axes: Axes) -> str:
    """Describe an index of an array in words."""
    words = axes.get(len(index))
    if words is None:
        return f"index {tuple(int(i) for i in index)}"
    return ", ".join(f"{word} {int(i)}" for word, i in zip(words, index, strict=True))


def compare(
    name: str,
    got: np.ndarray,
    expected: np.ndarray,
    tolerance: Tolerance,
    dtype: str,
    axes: Axes,
) -> Mismatch | None:
    """Compare one array with its reference.

    Args:
        name: of the array, in messages.
        got: the student's.
        expected: the reference, float64 (or integers).
        tolerance: how far a value may be off.
        dtype: the required type, such as "float32"; integers have their own.
        axes: the names of its axes in messages.

    Returns:
        None if they agree.
    """
    if got.shape != expected.shape:
        lines = (f"{name} should have shape {expected.shape}, got {got.shape}",)
        return Mismatch("shape", name, lines)
    wanted = np.dtype(dtype) if expected.dtype.kind == "f" else expected.dtype
    if got.dtype != wanted:
        lines = (f"{name} should be {wanted}, got {got.dtype}",)
        return Mismatch("dtype", name, lines)
    if not np.isfinite(got).all():
        bad = np.argwhere(~np.isfinite(got))
        where = _place(tuple(bad[0]), axes)
        lines = (f"{len(bad)} of {got.size} values of {name} are NaN or inf, first at ({where})",)
        return Mismatch("finite", name, lines, pair=Pair(name, got, expected, tolerance))
    return compare_values(name, got, expected, tolerance, axes)


def compare_values(
    name: str, got: np.ndarray, expected: np.ndarray, tolerance: Tolerance, axes: Axes
) -> Mismatch | None:
    """Compare finite values of equal shape; None if all are within the tolerance."""
    error = np.abs(got.astype(np.float64) - expected)
    allowed = tolerance.atol + tolerance.rtol * np.abs(expected)
    wrong = ~(error <= allowed)
    if not wrong.any():
        return None
    worst = tuple(int(i) for i in np.unravel_index(np.argmax(error - allowed), error.shape))
    where = f", worst at ({_place(worst, axes)})" if expected.ndim else ""
    lines = (f"{int(wrong.sum())} of {got.size} values of {name} differ{where}",)
    if expected.dtype.kind == "f":
        numbers = (
            f"expected {float(expected[worst]):z.4f}, got {float(got[worst]):z.4f}, "
            f"allowed difference {float(allowed[worst]):.0e}"
        )
    else:
        numbers = f"expected {expected[worst]}, got {got[worst]}"
    pair = Pair(name, got, expected, tolerance)
    return Mismatch("values", name, lines, numbers=numbers, pair=pair)


def compare_all(
    got: Mapping[str, np.ndarray],
    expected: Mapping[str, np.ndarray],
    tolerance: Tolerance,
    dtype: str,
    axes: Axes,
) -> Mismatch | None:
    """Compare every expected array, in order; the first mismatch, or None."""
    for name, reference in expected.items():
        if name not in got:
            return Mismatch("names", name, (f"{name} is missing",))
        if mismatch := compare(name, got[name], reference, tolerance, dtype, axes):
            return mismatch
    return None
