"""Figures of the page, laid out for figures.html.j2, which draws them: difference maps and curves.

They have no colours of their own: report.css has those, for light and dark mode.
"""

import math
from collections.abc import Sequence
from typing import Any

from tensormark.reports.text import visible

Json = dict[str, Any]  # what judging/excerpt.py and tasks put into the result, with more added here
SHADES = 5  # of differences
# pixels in a map
CELL = 16  # unless the panel would get wider than PANEL
SMALLEST_CELL = 7
PANEL = 340
LABEL = 15  # what a label needs
# pixels in a curve
WIDTH = 440
HEIGHT = 190
LEFT = 58  # for labels
RIGHT = WIDTH - 14
TOP = 12
BOTTOM = HEIGHT - 34  # below, for labels
ROOM = 0.08  # share of the values' range that is left free above and below the curve
FEW = 20  # points that are marked one by one


def _shade(value: float | None, largest: float) -> str:
    """Return the class of a cell: l0 if it is right, up to l5; lx for None, which is NaN or inf."""
    if value is None:
        return "lx"
    if value <= 0 or largest <= 0:
        return "l0"
    return f"l{min(SHADES, 1 + int(SHADES * (value / largest)))}"


def _wrong_rows(panel: Json, axis: str, step: int) -> str:
    """Describe in words which rows of a panel are wrong.

    Args:
        axis: what its rows are.
        step: how many rows of the array each of them stands for.
    """
    wrong = [
        str(row * step)
        for row, cells in enumerate(panel["cells"])
        if any(value is None or value > 0 for value in cells)
    ]
    if not wrong:
        return "all within the limit"
    return f"differences beyond the limit at {axis} {', '.join(wrong)}"


def _panel(panel: Json, outer: Sequence[str], down: str, step: int, largest: float) -> Json:
    """Add to a panel the cells of each shade, as (row, column), and its description.

    Args:
        outer: the axes of its index; down, step: see `_wrong_rows`.
        largest: the difference of the darkest shade.
    """
    columns = len(panel["cells"][0])
    size = max(SMALLEST_CELL, min(CELL, PANEL // columns))
    shades: dict[str, list[tuple[int, int]]] = {}
    for row, values in enumerate(panel["cells"]):
        for column, value in enumerate(values):
            shades.setdefault(_shade(value, largest), []).append((row, column))
    indices = zip(outer, panel["index"], strict=False)
    place = ", ".join(f"{name} {index}" for name, index in indices)
    wrong = _wrong_rows(panel, down, step)
    return panel | {
        "place": place,
        "description": f"{place}: {wrong}" if place else wrong,
        "columns": columns,
        "size": size,
        "label_step": math.ceil(LABEL / size),
        "shades": shades,
        "padded": any(panel["padding"]),
    }


def difference_map(excerpt: Json) -> Json:
    """Return the map of an array's differences as it is drawn, with its scale."""
    cell_map: Json = excerpt["map"]
    names = [visible(axis, 40) for axis in excerpt["axes"]]
    *outer, down, across = ["", ""][len(names) :] + names  # a map has two, even of one value
    largest = cell_map["largest"] if isinstance(cell_map["largest"], float | int) else 0.0
    panels = [panel for panel in cell_map["panels"] if panel["cells"]]
    bounds = [f"up to {largest * shade / SHADES:.2g}" for shade in range(1, SHADES + 1)]
    return cell_map | {
        "name": excerpt["name"],
        "down": down,
        "across": across,
        "panels": [_panel(panel, outer, down, cell_map["steps"][0], largest) for panel in panels],
        "key": ["within the limit", *bounds],
    }


def curve(shown: Json) -> Json | None:
    """Return a curve as it is drawn, with its threshold; None if it has fewer than two points."""
    values: list[float] = [value for value in shown["values"] if value is not None]
    if len(values) < 2:
        return None
    threshold: float | None = shown["threshold"]
    levels = values if threshold is None else [*values, threshold]
    low = min(levels)
    high = max(levels)
    room = ROOM * (high - low) or ROOM * abs(high) or 1.0  # even if all values are equal
    low -= room
    high += room

    def y(value: float) -> float:
        return round(TOP + (BOTTOM - TOP) * (high - value) / (high - low), 1)

    step = (RIGHT - LEFT) / (len(values) - 1)
    points = [(round(LEFT + number * step, 1), y(value)) for number, value in enumerate(values)]
    return shown | {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": RIGHT,
        "first": values[0],
        "last": values[-1],
        "points": points,
        "dots": points if shown["unit"] and len(points) <= FEW else [],
        "ends": [(value, y(value)) for value in (min(values), max(values))],
        "threshold_y": None if threshold is None else y(threshold),
    }
