"""Figures of the page, laid out for figures.html.j2, which draws them: difference maps and curves.

They have no colours of their own: report.css has those, for light and dark mode.
"""

from collections.abc import Sequence
from typing import Any

from tensormark.reports.text import visible

Json = dict[str, Any]
SHADES = 5  # of a difference
CELL = 16  # pixels of a cell of a map, unless the panel would get too wide
SMALLEST = 7  # pixels of a cell
WIDEST = 340  # pixels of a panel's cells
LABEL = 15  # pixels that a label needs
FEW = 20  # points of a curve that are marked one by one
WIDTH = 440  # pixels of a curve
HEIGHT = 190
LEFT = 58  # pixels left of it, for labels
RIGHT = 14
ABOVE = 12
BELOW = 34


def _shade(value: float | None, largest: float) -> str:
    """Return the class of a cell: l0 if it is right, up to l5; lx for NaN and inf."""
    if value is None:
        return "lx"
    if value <= 0 or largest <= 0:
        return "l0"
    return f"l{min(SHADES, 1 + int(SHADES * (value / largest)))}"


def _wrong_rows(panel: Json, axis: str, step: int) -> str:
    """Describe in words which rows of a panel are wrong."""
    wrong = [
        str(row * step)
        for row, cells in enumerate(panel["cells"])
        if any(value is None or value > 0 for value in cells)
    ]
    if not wrong:
        return "all within the limit"
    return f"differences beyond the limit at {axis} {', '.join(wrong)}"


def _panel(panel: Json, axes: Sequence[str], down: str, step: int, largest: float) -> Json:
    """Add to a panel the cells of each shade, as (row, column), and its description."""
    columns = len(panel["cells"][0])
    size = max(SMALLEST, min(CELL, WIDEST // columns))
    shades: dict[str, list[tuple[int, int]]] = {}
    for row, values in enumerate(panel["cells"]):
        for column, value in enumerate(values):
            shades.setdefault(_shade(value, largest), []).append((row, column))
    outer = zip(axes[:-2], panel["index"], strict=False)
    place = ", ".join(f"{name} {index}" for name, index in outer)
    wrong = _wrong_rows(panel, down, step)
    return panel | {
        "place": place,
        "description": f"{place}: {wrong}" if place else wrong,
        "columns": columns,
        "size": size,
        "label_step": -(-LABEL // size),
        "shades": shades,
        "padded": any(panel["padding"]),
    }


def difference_map(excerpt: Json) -> Json:
    """Return the map of an array's differences as it is drawn, with its scale."""
    cell_map: Json = excerpt["map"]
    axes = [visible(axis, 40) for axis in excerpt["axes"]]
    down, across = ["", "", *axes][-2:]
    largest = cell_map["largest"] if isinstance(cell_map["largest"], float | int) else 0.0
    panels = [panel for panel in cell_map["panels"] if panel["cells"]]
    bounds = [f"up to {largest * shade / SHADES:.2g}" for shade in range(1, SHADES + 1)]
    return cell_map | {
        "name": excerpt["name"],
        "down": down,
        "across": across,
        "panels": [_panel(panel, axes, down, cell_map["steps"][0], largest) for panel in panels],
        "key": ["within the limit", *bounds],
    }


def curve(shown: Json) -> Json | None:
    """Return a curve with its threshold; None if it has fewer than two points."""
    values: list[float] = [value for value in shown["values"] if value is not None]
    if len(values) < 2:
        return None
    threshold: float | None = shown["threshold"]
    levels = values if threshold is None else [*values, threshold]
    low = min(levels)
    high = max(levels)
    room = (high - low) * 0.08 or abs(high) * 0.08 or 1.0
    low -= room
    high += room

    def y(value: float) -> float:
        return round(ABOVE + (HEIGHT - ABOVE - BELOW) * (high - value) / (high - low), 1)

    step = (WIDTH - LEFT - RIGHT) / (len(values) - 1)
    points = [(round(LEFT + number * step, 1), y(value)) for number, value in enumerate(values)]
    return shown | {
        "first": values[0],
        "last": values[-1],
        "points": points,
        "dots": points if shown["unit"] and len(points) <= FEW else [],
        "ends": [(value, y(value)) for value in (min(values), max(values))],
        "threshold_y": None if threshold is None else y(threshold),
    }
