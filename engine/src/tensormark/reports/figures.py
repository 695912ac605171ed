"""Figures of the page, as inline SVG: where an array differs, and curves.

They have no inline styles: report.css colours them for light and dark mode.
"""

from collections.abc import Sequence
from typing import Any

from tensormark.reports.markup import Element, drawing, element
from tensormark.reports.text import visible

LEVELS = 5  # shades of a difference
CELL, SMALLEST, WIDEST = 16, 7, 340  # pixels: of a cell, and of a panel's cells
LEFT, TOP, BOTTOM = 34, 4, 18  # room for a panel's labels
SPACE = 30  # pixels that a label needs
WIDTH, HEIGHT, MARGIN = 440, 190, 58  # of a curve
Cells = list[list[float | None]]


def _level(value: float | None, largest: float) -> str:
    """Return the CSS class of a cell: l0 if it is right, up to l5; lx for NaN and inf."""
    if value is None:
        return "lx"
    if value <= 0 or largest <= 0:
        return "l0"
    return f"l{min(LEVELS, 1 + int(LEVELS * (value / largest)))}"


def _squares(cells: Cells, largest: float, size: int) -> list[Element]:
    """Return a path for each level, with a square for each of its cells."""
    paths: dict[str, list[str]] = {}
    for down, row in enumerate(cells):
        for across, value in enumerate(row):
            corner = f"M{LEFT + across * size} {TOP + down * size}"
            square = f"{corner}h{size - 1}v{size - 1}h{1 - size}z"
            paths.setdefault(_level(value, largest), []).append(square)
    return [element("path", class_=name, d=Element("".join(d))) for name, d in paths.items()]


def _ticks(count: int, size: int) -> range:
    return range(0, count, max(1, -(-SPACE // (size * 2)) if size < SPACE else 1))


def _labels(panel: dict[str, Any], steps: Sequence[int], size: int) -> list[Element]:
    cells, texts = panel["cells"], []
    right = LEFT + len(cells[0]) * size
    for down in range(len(cells)):
        y = TOP + down * size + size * 0.5 + 4
        if down in _ticks(len(cells), size):
            texts.append(element("text", down * steps[0], x=LEFT - 6, y=y, text_anchor="end"))
        if panel["padding"][down]:
            texts.append(element("text", "pad", class_="pad", x=right + 5, y=y))
    for across in _ticks(len(cells[0]), size):
        x, y = LEFT + across * size + size / 2, TOP + len(cells) * size + 13
        texts.append(element("text", across * steps[1], x=x, y=y, text_anchor="middle"))
    return texts


def _description(panel: dict[str, Any], axes: Sequence[str], steps: Sequence[int]) -> str:
    """Describe in words which rows of a panel are wrong."""
    wrong = [
        str(down * steps[0])
        for down, row in enumerate(panel["cells"])
        if any(value is None or value > 0 for value in row)
    ]
    if not wrong:
        return "all within the limit"
    return f"differences beyond the limit at {axes[0]} {', '.join(wrong)}"


def _panel_figure(
    panel: dict[str, Any], axes: Sequence[str], steps: Sequence[int], largest: float
) -> Element:
    cells, last = panel["cells"], list(axes[-2:])
    columns, inner = len(cells[0]), (["", *last] if len(last) == 1 else last)[-2:]
    size = max(SMALLEST, min(CELL, WIDEST // columns))
    padding = any(panel["padding"])
    width = LEFT + columns * size + (30 if padding else 6)
    height = TOP + len(cells) * size + BOTTOM
    leading = zip(axes[:-2], panel["index"], strict=False)
    place = ", ".join(f"{name} {i}" for name, i in leading)
    description = ": ".join(filter(None, [place, _description(panel, inner, steps)]))
    parts = *_squares(cells, largest, size), *_labels(panel, steps, size)
    figure = drawing(width, height, visible(description, 600), *parts)
    return element("figure", element("figcaption", place) if place else None, figure)


def _key(largest: float) -> Element:
    bounds = (f"up to {largest * step / LEVELS:.2g}" for step in range(1, LEVELS + 1))
    size, entries = {"width": 14, "height": 14}, []
    for level, meaning in enumerate(["within the limit", *bounds]):
        square = element("rect", **size, class_=f"l{level}")
        icon = element("svg", square, viewBox="0 0 14 14", **size, aria_hidden="true")
        entries.append(element("li", icon, element("span", meaning)))
    return element("ul", *entries, class_="key")


def difference_map(excerpt: dict[str, Any]) -> Element:
    """Return the map of an array's differences, with its scale."""
    cell_map, axes = excerpt["map"], [visible(axis, 40) for axis in excerpt["axes"]]
    largest = cell_map["largest"] if isinstance(cell_map["largest"], float | int) else 0.0
    steps = cell_map["steps"]
    panels = [
        _panel_figure(panel, axes, steps, largest) for panel in cell_map["panels"] if panel["cells"]
    ]
    down, across = ["", *axes][-2:]
    notes = [f"The error of each value of {visible(excerpt['name'], 80)}."]
    notes.append(f"Down: {down}. Across: {across}." if down else f"Across: {across}.")
    if any(any(panel["padding"]) for panel in cell_map["panels"]):
        notes.append("“pad” marks padding.")
    if max(steps) > 1:
        notes.append(f"Each square shows the largest of {steps[0]} by {steps[1]} errors.")
    if cell_map["left_out"]:
        notes.append(f"{cell_map['left_out']} more not shown.")
    if any(v is None for panel in cell_map["panels"] for row in panel["cells"] for v in row):
        notes.append("Black: NaN or infinite.")
    return element(
        "div",
        element("p", " ".join(notes), class_="about"),
        element("div", *panels, class_="panels"),
        _key(largest),
        class_="map",
    )


def _spread(values: Sequence[float], threshold: float | None) -> tuple[float, float]:
    """Return the lower and upper ends of an axis, with a margin."""
    levels = [*values, *([threshold] if threshold is not None else [])]
    low, high = min(levels), max(levels)
    room = (high - low) * 0.08 or abs(high) * 0.08 or 1.0
    return low - room, high + room


def curve(shown: dict[str, Any]) -> Element | None:
    """Return a curve with its threshold; None if it has no points."""
    values = [value for value in shown["values"] if value is not None]
    if len(values) < 2:
        return None
    threshold = shown["threshold"]
    low, high = _spread(values, threshold)
    across = (WIDTH - MARGIN - 14) / (len(values) - 1)

    def y(value: float) -> float:
        return round(12 + (HEIGHT - 46) * (high - value) / (high - low), 1)

    corners = [(round(MARGIN + i * across, 1), y(value)) for i, value in enumerate(values)]
    line = " ".join(f"{x},{at}" for x, at in corners)
    name, unit = visible(shown["name"], 60), visible(shown["unit"], 30)
    description = f"{name} from {values[0]:.3g} to {values[-1]:.3g} over {shown['steps']} {unit}s"
    parts = [element("polyline", points=Element(line), class_="line")]
    if unit and len(corners) <= 20:
        parts += [element("circle", cx=x, cy=at, r=4, class_="dot") for x, at in corners]
    for value in (min(values), max(values)):
        parts.append(
            element("text", f"{value:.3g}", x=MARGIN - 6, y=y(value) + 4, text_anchor="end")
        )
    if threshold is not None:
        description += f"; needed: {threshold:.3g}"
        at = y(threshold)
        parts.append(element("line", x1=MARGIN, x2=WIDTH - 14, y1=at, y2=at, class_="need"))
        label_y = at + (14 if values[-1] >= threshold else -6)  # away from the curve's end
        text = f"needed: {threshold:.3g}"
        parts.append(
            element("text", text, x=WIDTH - 14, y=label_y, text_anchor="end", class_="need")
        )
    for x, anchor, text in ((MARGIN, "start", f"{unit} 1"), (WIDTH - 14, "end", shown["steps"])):
        parts.append(element("text", text, x=x, y=HEIGHT - 8, text_anchor=anchor))
    figure = drawing(WIDTH, HEIGHT, description, *parts)
    return element("figure", element("figcaption", name), figure, class_="curve")
