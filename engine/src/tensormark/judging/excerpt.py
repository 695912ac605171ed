"""Where an array is wrong, as JSON of bounded size: the worst row, and a map of the differences.

The map has a panel for each index of the leading axes; the last two axes are its cells. If an array
is too large, a cell holds the largest difference in a block.
"""

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from tensormark.judging.compare import Axes, Pair

PANELS, COLUMNS, CELLS = 6, 48, 1024  # limits of a map
WIDTH = 16  # how many values of the worst row are shown, around the worst one
Number = float | str


def _number(value: Any) -> Number:
    """Return a number in a form valid in JSON: rounded, with NaN and inf as words."""
    number = float(value)
    return float(f"{number:.6g}") if math.isfinite(number) else str(number)


def _numbers(values: Iterable[Any]) -> list[Number]:
    return [_number(value) for value in values]


def _names(axes: Axes, count: int) -> list[str]:
    return list(axes.get(count, [f"axis {axis}" for axis in range(count)]))


def _reduced(values: np.ndarray, steps: tuple[int, int]) -> np.ndarray:
    """Return the largest value in each block of the last two axes, (panels, rows, columns)."""
    for axis, step in zip((1, 2), steps, strict=True):
        values = np.maximum.reduceat(values, range(0, values.shape[axis], step), axis=axis)
    return values


def _panels_of(wrong: np.ndarray, padding: np.ndarray | None) -> dict[str, Any]:
    """Return the map of an array's differences.

    Args:
        wrong: (*leading, rows, columns): the difference where it is too large, inf where a value is
            NaN or inf, otherwise 0.
        padding: true for padding, in the shape of the first axes; or None.
    """
    leading, (rows, columns) = wrong.shape[:-2], wrong.shape[-2:]
    flat = wrong.reshape(-1, rows, columns)
    count = min(len(flat), PANELS)
    across = math.ceil(columns / COLUMNS)
    down = math.ceil(rows / max(1, CELLS // (count * math.ceil(columns / across))))
    cells = _reduced(flat[:count], (down, across))
    marks = np.zeros(wrong.shape[:-1], dtype=bool)
    if padding is not None and padding.shape == marks.shape[: padding.ndim]:
        marks |= padding.reshape(padding.shape + (1,) * (marks.ndim - padding.ndim))
    marks = marks.reshape(-1, rows)[:count, ::down]
    finite = np.where(np.isfinite(flat), flat, 0.0)
    shown = [
        {
            "index": [int(i) for i in index],
            "cells": [[_number(v) if math.isfinite(v) else None for v in row] for row in panel],
            "padding": [bool(padded) for padded in mark],
        }
        for index, panel, mark in zip(np.ndindex(leading), cells, marks, strict=False)
    ]
    largest = _number(finite.max(initial=0.0))
    left_out = len(flat) - count
    return {"largest": largest, "steps": [down, across], "panels": shown, "left_out": left_out}


def _worst_row(pair: Pair, off: np.ndarray, allowed: np.ndarray, at: tuple[int, ...]) -> Any:
    """Return the part of the worst row around the worst value."""
    before, length = at[:-1], off.shape[-1]
    start = max(0, min(at[-1] - WIDTH // 2, length - WIDTH))
    part = slice(start, start + WIDTH)
    return {
        "index": list(before),
        "start": start,
        "length": length,
        "expected": _numbers(pair.expected[before][part]),
        "got": _numbers(pair.got[before][part]),
        "wrong": [bool(v) for v in ~(off[before] <= allowed[before])[part]],
    }


def excerpt(pair: Pair, axes: Axes, padding: np.ndarray | None) -> dict[str, Any] | None:
    """Return where two arrays differ; None if they have no values.

    Args:
        axes: the names of the axes.
        padding: which positions along the first axes are padding, if known.
    """
    if pair.expected.size == 0:
        return None
    axis_names = _names(axes, pair.expected.ndim)
    expected = np.atleast_1d(pair.expected.astype(np.float64))
    got = np.atleast_1d(pair.got.astype(np.float64))
    with np.errstate(all="ignore"):
        off = np.abs(got - expected)
        allowed = pair.tolerance.atol + pair.tolerance.rtol * np.abs(expected)
        wrong = ~(off <= allowed)
        excess = np.where(np.isfinite(off), off - allowed, np.inf)
    at = tuple(int(i) for i in np.unravel_index(np.argmax(excess), off.shape))
    shown = np.where(wrong, np.where(np.isfinite(off), off, np.inf), 0.0)
    flat = Pair(pair.name, got, expected, pair.tolerance)
    return {
        "name": pair.name,
        "axes": axis_names,
        "shape": list(pair.expected.shape),
        "wrong": int(wrong.sum()),
        "size": int(wrong.size),
        "worst": {
            "index": list(itertools.islice(at, pair.expected.ndim)),
            "expected": _number(expected[at]),
            "got": _number(got[at]),
            "allowed": _number(allowed[at]),
        },
        "row": _worst_row(flat, off, allowed, at),
        "map": _panels_of(np.atleast_2d(shown), padding),
    }
