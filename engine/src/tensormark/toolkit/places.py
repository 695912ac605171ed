"""Where an output is wrong, in the words of an assignment, if the mistake has no name.

An assignment names the axes of its outputs to get a function for `Assignment.locate`:

    AXES = {2: ("signal", "class"), 3: ("signal", "pattern", "window")}
    Assignment(..., axes=AXES, locate=locator(AXES))

No sentence reveals expected values: students, who know their own values, must not learn them.
"""

from collections.abc import Callable, Sequence

import numpy as np

from tensormark.exercise import Axes, Locate, Tensors

CLEAR = 10.0  # limits by which values differ, if it matters how


def _alike(got: np.ndarray, expected: np.ndarray, limit: float) -> bool:
    return np.allclose(got, expected, rtol=0.0, atol=limit)


def _by_value(got: np.ndarray, expected: np.ndarray, limit: float) -> str | None:
    """Say how all values are off, if they are by the same factor or amount."""
    total = float((expected * expected).sum())
    factor = float((got * expected).sum()) / total if total else 0.0
    if (
        abs(factor) > 1e-3
        and abs(factor - 1.0) > 1e-3
        and _alike(got, factor * expected, limit * (1.0 + abs(factor)))
    ):
        return f"every value is {factor:.3g} times the expected one"
    off = got - expected
    if np.ptp(off) < limit < np.abs(off).min():
        return "every value is off by the same amount"
    return None


def _reordered(got: np.ndarray, expected: np.ndarray, limit: float, axis: int) -> bool:
    """Return whether the parts along an axis are right, but in another order."""
    parts = [
        np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1) for array in (got, expected)
    ]
    weights = np.random.default_rng(0).standard_normal(parts[0].shape[1])
    first, second = (part[np.argsort(part @ weights)] for part in parts)
    return _alike(first, second, limit)


def _moved(got: np.ndarray, expected: np.ndarray, limit: float, axes: Sequence[str]) -> str | None:
    """Say how the right values are in the wrong places, if they are.

    Args:
        axes: the names of the axes, at least two.
    """
    if _alike(np.sort(got, axis=-1), np.sort(expected, axis=-1), limit):
        return f"each {axes[-2]} has the right values, but its {axes[-1]}s are in the wrong order"
    for axis, name in enumerate(axes[:-1]):
        if _reordered(got, expected, limit, axis):
            return f"the {name}s have the right values, but are in another order"
    if _alike(np.sort(got.ravel()), np.sort(expected.ravel()), limit):
        return "all the right values are there, but in the wrong places: check the order of axes"
    return None


def _by_padding(wrong: np.ndarray, padding: np.ndarray | None, axes: Sequence[str]) -> str | None:
    """Say how padding explains which places are wrong, if it does.

    Args:
        padding: the places of the first two axes, true where there is only padding.
    """
    if padding is None or padding.shape != wrong.shape[:2]:
        return None
    if not padding.any() or padding.all():
        return None
    first, second, *_ = axes
    wrong = np.asarray(wrong.any(tuple(range(2, wrong.ndim))))
    if (wrong <= padding).all():
        return "only padding is wrong"
    if (wrong <= ~padding).all() and len(wrong) > 1:
        return f"only {second}s are wrong; padding is right"
    full = ~padding.any(1)
    if full.any() and not full.all() and not wrong[full].any() and wrong[~full].any(1).all():
        return f"only {first}s that have padding are wrong"
    return None


def _along(wrong: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(wrong.any(tuple(other for other in range(wrong.ndim) if other != axis)))


def _by_place(wrong: np.ndarray, axes: Sequence[str]) -> str | None:
    """Say which places along one axis are wrong; None if all are, or if that is unclear.

    Args:
        wrong: the places; the first axis is that of the batch.
        axes: the name of each axis.
    """
    batch, *others = axes
    first, *rest = _along(wrong, 0)
    if rest and first and not any(rest):
        return f"only {batch} 0 of the batch is wrong"
    if rest and not first and all(rest):
        return f"{batch} 0 of the batch is right; the others are wrong"
    for axis, name in enumerate(others, start=1):
        parts = _along(wrong, axis)
        if not parts.any() or parts.all():
            continue
        begin = int(np.argmax(parts))
        if parts[begin:].all():
            return f"only {name}s from number {begin} on are wrong"
        if int(parts.sum()) == 1:
            return f"only {name} {begin} of each {batch} is wrong"
    return None


def locate(
    got: np.ndarray,
    expected: np.ndarray,
    allowed: np.ndarray,
    axes: Sequence[str],
    padding: np.ndarray | None = None,
    among: int | None = None,
) -> str | None:
    """Say in one line where or how an array of finite values is wrong; None if unclear.

    Args:
        allowed: how far each value may be off.
        axes: the names of the axes; the result is None for arrays with fewer than two, and for a
            single value, as its ratio would reveal the expected value.
        padding: the places of the first two axes that are only padding.
        among: how many of the first axes are used to tell places apart; None: all.
    """
    if got.shape != expected.shape:
        if [n for n in got.shape if n != 1] == [n for n in expected.shape if n != 1]:
            return "the number of values is right: an axis of length 1 is missing or extra"
        same = got.size == expected.size
        return "the number of values is right: check the order of axes" if same else None
    if got.ndim < 2 or got.ndim != len(axes) or got.size < 2:
        return None
    wrong = ~(np.abs(got - expected) <= allowed)
    limit = float(allowed.max())
    among = wrong.ndim if among is None else among
    places = np.asarray(wrong.any(tuple(range(among, wrong.ndim))))
    of_values = None
    if np.abs(got - expected).max() > CLEAR * limit:
        of_values = _by_value(got, expected, limit) or _moved(got, expected, limit, axes)
    return of_values or _by_padding(wrong, padding, axes) or _by_place(places, axes[:among])


def locator(
    axes: Axes,
    padding: Callable[[Tensors], np.ndarray | None] = lambda inputs: None,
    among: int | None = None,
) -> Locate:
    """Return a function for `Assignment.locate`.

    Args:
        axes: maps the number of axes to their names, as in `Assignment.axes`.
        padding, among: see `locate`.
    """

    def where(
        got: np.ndarray, expected: np.ndarray, allowed: np.ndarray, inputs: Tensors
    ) -> str | None:
        """Say in a few words where or how an output is wrong; None if unclear."""
        names = axes.get(expected.ndim, ())
        return locate(got, expected, allowed, names, padding(inputs), among)

    return where
