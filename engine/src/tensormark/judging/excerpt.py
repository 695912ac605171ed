"""Where an array is wrong, as JSON of bounded size: the worst row, and a map of the differences.

The map has a panel for each index of the leading axes; the last two axes are its cells. If an array
is too large, a cell holds the largest difference in a block.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensormark.exercise import Axes
from tensormark.judging.compare import Pair

# limits of a map
PANELS = 6
COLUMNS = 48  # of a panel
CELLS = 1024  # of all panels, unless each row takes more
WIDTH = 16  # how many values of the worst row are shown, around the worst one


def _number(value: Any) -> float | str:
    """Return a number in a form valid in JSON: rounded, with NaN and inf as words."""
    number = float(value)
    return float(f"{number:.6g}") if math.isfinite(number) else str(number)


def _map(wrong: np.ndarray, padding: np.ndarray | None) -> dict[str, Any]:
    """Return the map of an array's differences.

    Args:
        wrong: (*leading, rows, columns): the difference where it is too large, inf where a value is
            NaN or inf, otherwise 0.
        padding: true for padding, in the shape of the first axes; or None.

    Returns: `steps` are the rows and columns of the array that a cell stands for, `largest` the
        largest finite difference, `left_out` the number of panels that are not shown.
    """
    *leading, rows, columns = wrong.shape
    flat = wrong.reshape(-1, rows, columns)
    count = min(len(flat), PANELS)
    across = math.ceil(columns / COLUMNS)
    most_rows = max(1, CELLS // (count * math.ceil(columns / across)))
    down = math.ceil(rows / most_rows)
    cells = np.maximum.reduceat(flat[:count], range(0, rows, down), axis=1)
    cells = np.maximum.reduceat(cells, range(0, columns, across), axis=2)
    marks = np.zeros((*leading, rows), dtype=bool)
    if padding is not None and padding.shape == marks.shape[: padding.ndim]:
        marks[padding] = True
    marks = marks.reshape(-1, rows)[:, ::down]
    panels = [
        {
            "index": list(index),
            "cells": [[_number(v) if math.isfinite(v) else None for v in row] for row in panel],
            "padding": mark.tolist(),
        }
        for index, panel, mark in zip(np.ndindex(*leading), cells, marks, strict=False)
    ]
    return {
        "largest": _number(np.max(flat, initial=0.0, where=np.isfinite(flat))),
        "steps": [down, across],
        "panels": panels,
        "left_out": len(flat) - count,
    }


def _row(
    expected: np.ndarray, got: np.ndarray, wrong: np.ndarray, worst: Sequence[int]
) -> dict[str, Any]:
    """Return the values around the worst one, along the last axis."""
    *before, column = worst
    length = expected.shape[-1]
    start = max(0, min(column - WIDTH // 2, length - WIDTH))
    part: tuple[Any, ...] = (*before, slice(start, start + WIDTH))
    return {
        "index": before,
        "start": start,
        "length": length,
        "expected": [_number(value) for value in expected[part]],
        "got": [_number(value) for value in got[part]],
        "wrong": wrong[part].tolist(),
    }


def excerpt(pair: Pair, axes: Axes, padding: np.ndarray | None) -> dict[str, Any] | None:
    """Return where two arrays differ; None if they have no values.

    Args:
        axes: the names of the axes.
        padding: which positions along the first axes are padding, if known.
    """
    if pair.expected.size == 0:
        return None
    dimensions = pair.expected.ndim
    expected = np.atleast_1d(pair.expected.astype(np.float64))
    got = np.atleast_1d(pair.got.astype(np.float64))
    with np.errstate(all="ignore"):
        off = np.abs(got - expected)
        allowed = pair.tolerance.allowed(expected)
        wrong = ~(off <= allowed)
    off = np.where(np.isfinite(off), off, np.inf)
    worst = tuple(map(int, np.unravel_index(np.argmax(off - allowed), off.shape)))
    return {
        "name": pair.name,
        "axes": list(axes.get(dimensions, [f"axis {axis}" for axis in range(dimensions)])),
        "shape": list(pair.expected.shape),
        "wrong": int(wrong.sum()),
        "size": wrong.size,
        "worst": {
            "index": list(worst[:dimensions]),
            "expected": _number(expected[worst]),
            "got": _number(got[worst]),
            "allowed": _number(allowed[worst]),
        },
        "row": _row(expected, got, wrong, worst),
        "map": _map(np.atleast_2d(np.where(wrong, off, 0.0)), padding),
    }
