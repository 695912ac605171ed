"""Draws the pictures of visualize.py: numbers in, a PNG or SVG file out.

Colours are from viridis and cividis, which colour-blind readers can distinguish and which keep
their order when printed in grey; classes also differ in shape.

Dimension key: T tokens, H heads, D model width, C classes.
"""

import io
import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from sentences import write_whole

FORMATS = (".png", ".svg")
DPI = 110  # of a PNG: readable on screen, and small
MARKERS = "o^sDvP*X"  # of the classes, in order
HATCHES = ("", "///", "...", "xxx")
TINIEST = 1e-30  # below it, a value is not off at all
TEXT = 9  # points
STYLE = {
    "font.size": TEXT,
    "axes.titlesize": TEXT + 1,
    "svg.hashsalt": "minBERT",  # equal input gives equal files
    "svg.fonttype": "none",  # text stays text, to be searched and read aloud
    "image.cmap": "viridis",
}


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure; the sizes are in inches."""
    matplotlib.rcParams.update(STYLE)
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure atomically, in the format given by the file's extension."""
    content, kind = io.BytesIO(), path.suffix.lower().removeprefix(".")
    undated = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(content, format=kind, dpi=DPI, metadata=undated)
    write_whole(path, content.getvalue())


def palette(count: int) -> list:
    """Pick `count` colours of cividis, far apart."""
    return [
        matplotlib.colormaps["cividis"](0.05 + 0.85 * i / max(1, count - 1)) for i in range(count)
    ]


def name_axes(axes: Axes, tokens: Sequence[str], left: bool, below: bool) -> None:
    """Write the tokens along the axes, on the given sides."""
    places = range(len(tokens))
    axes.set_yticks(places, tokens if left else [])
    axes.set_xticks(places, tokens if below else [], rotation=90)
    axes.tick_params(length=0, labelsize=TEXT - 1)


def draw_attention(maps: Tensor, tokens: Sequence[str], layers: Sequence[int]) -> Figure:
    """Draw a heatmap for each layer and head.

    Args:
        maps: (layers, H, T, T), probabilities: query token, key token.
        tokens: T names.
        layers: the numbers of the layers, for the titles; they count from 1.
    """
    rows, columns = maps.shape[:2]
    side = max(1.6, 0.17 * len(tokens))  # inches
    figure = new_figure(columns * side + 1.6, rows * (side + 0.25) + 1.2)
    grid = figure.subplots(rows, columns, squeeze=False)
    for row in range(rows):
        for column in range(columns):
            axes = grid[row][column]
            image = axes.imshow(maps[row, column].numpy(), vmin=0.0, vmax=1.0)
            axes.set_title(f"layer {layers[row]}, head {column + 1}")
            name_axes(axes, tokens, left=column == 0, below=row == rows - 1)
    figure.colorbar(image, ax=grid, label="attention probability", fraction=0.05, aspect=40)
    figure.supylabel("query token", fontsize=TEXT + 1)
    figure.supxlabel("key token", fontsize=TEXT + 1)
    return figure


def draw_guesses(tokens: Sequence[str], probabilities: Sequence[float], title: str) -> Figure:
    """Draw a bar for each guess, the most likely on top, with its probability next to it."""
    figure = new_figure(max(5.0, 0.075 * len(title) + 1.0), 0.32 * len(tokens) + 1.0)
    axes = figure.subplots()
    bars = axes.barh(tokens, probabilities, color=matplotlib.colormaps["viridis"](0.4))
    axes.bar_label(bars, labels=[f" {p:.3f}" for p in probabilities])
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.19 * max(probabilities))
    axes.set_xlabel("probability")
    axes.set_title(title, parse_math=False)  # a sentence may have dollar signs
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_points(panels: dict[str, Tensor], labels: Tensor) -> Figure:
    """Draw points in the plane side by side, with a colour and a shape for each label.

    Args:
        panels: (N, 2) for each title.
        labels: (N,), int64.
    """
    figure = new_figure(4.2 * len(panels), 4.2)
    classes = labels.unique().tolist()
    colours = palette(len(classes))
    for axes, (title, points) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
        for number, label in enumerate(classes):
            mine = points[labels == label]
            shape = MARKERS[number % len(MARKERS)]
            style = {"marker": shape, "s": 20, "linewidths": 0.4, "edgecolors": "black"}
            axes.scatter(*mine.T.numpy(), color=colours[number], label=f"label {label}", **style)
        axes.set_title(title)
        axes.set_xlabel("first principal component")
        axes.set_ylabel("second principal component")
    axes.legend()
    return figure


def draw_neighbours(
    panels: dict[str, tuple[Sequence[str], Sequence[float], Sequence[int]]], title: str
) -> Figure:
    """Draw sentences near another one as bars, with a colour and a hatch for each label.

    Args:
        panels: the sentences for each title, the nearest first, with their cosines and labels.
        title: the sentence that they are near.
    """
    classes = sorted({label for _, _, labels in panels.values() for label in labels})
    colours, rows = palette(len(classes)), max(len(names) for names, _, _ in panels.values())
    figure = new_figure(8.4, 0.22 * rows * len(panels) + 1.6)
    for axes, (when, (names, cosines, labels)) in zip(
        figure.subplots(len(panels), 1), panels.items(), strict=True
    ):
        for number, label in enumerate(classes):
            mine = [row for row, one in enumerate(labels) if one == label]
            style = {"color": colours[number], "hatch": HATCHES[number % len(HATCHES)]}
            axes.barh(mine, [cosines[row] for row in mine], label=f"label {label}", **style)
        axes.set_yticks(range(len(names)), names, fontsize=TEXT - 1, parse_math=False)
        axes.set(xlim=(min(0.0, *cosines), 1.0), title=when)
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("cosine")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper right", ncols=len(classes))
    figure.suptitle(title, fontsize=TEXT + 1, parse_math=False)
    return figure


def name_places(axes: Axes, found: dict, panel: dict) -> None:
    """Number the rows and columns of a map of differences, and mark padding."""
    down, across = found["steps"]
    rows, columns = len(panel["cells"]), len(panel["cells"][0])
    marks = [" pad" if padded else "" for padded in panel["padding"]]
    axes.set_yticks(range(rows), [f"{row * down}{marks[row]}" for row in range(rows)])
    shown = range(0, columns, max(1, columns // 8))
    axes.set_xticks(shown, [column * across for column in shown])
    axes.tick_params(length=0, labelsize=TEXT - 1)


def draw_errors(excerpt: dict, title: str) -> Figure:
    """Draw how far values of an output are off: a heatmap for each index of its leading axes.

    Right values are light grey, NaN and infinite ones black.

    Args:
        excerpt: of a report: the names of the axes, and the map of the differences.
    """
    found, names = excerpt["map"], ["", *excerpt["axes"]]
    panels, largest = found["panels"], max(found["largest"], 2 * TINIEST)
    rows, columns = len(panels[0]["cells"]), len(panels[0]["cells"][0])
    width = (0.16 * columns + 0.6) * len(panels) + 1.4
    figure = new_figure(max(4.5, width), max(2.2, 0.2 * rows + 1.3))
    grid = figure.subplots(1, len(panels), squeeze=False)[0]
    colours = matplotlib.colormaps["viridis"].with_extremes(under="0.9", bad="black")
    for axes, panel in zip(grid, panels, strict=True):
        cells = [[math.nan if cell is None else cell for cell in row] for row in panel["cells"]]
        image = axes.imshow(cells, cmap=colours, vmin=TINIEST, vmax=largest, aspect="auto")
        name_places(axes, found, panel)
        place = zip(excerpt["axes"], panel["index"], strict=False)
        axes.set(title=", ".join(f"{name} {i}" for name, i in place), xlabel=names[-1])
    grid[0].set_ylabel(names[-2])
    figure.colorbar(image, ax=grid, label="off by", fraction=0.05, extend="min")
    figure.suptitle(title, fontsize=TEXT + 1, parse_math=False)
    return figure


def draw_positions(table: Tensor, panels: dict[str, Tensor]) -> Figure:
    """Draw the table of sinusoids, and the similarities of positions.

    Args:
        table: (T, D), each position's vector.
        panels: (T, T) cosines for each title.
    """
    figure = new_figure(3.6 * (1 + len(panels)) + 0.8, 3.7)
    grid = figure.subplots(1, 1 + len(panels))
    shown = {"sinusoidal positions": table} | panels
    for axes, (title, values) in zip(grid, shown.items(), strict=True):
        image = axes.imshow(values.numpy(), vmin=-1.0, vmax=1.0, aspect="auto")
        axes.set_title(title)
        axes.set_xlabel("position")
        axes.set_ylabel("position")
    grid[0].set_xlabel("unit")
    figure.colorbar(image, ax=grid, label="value, or cosine of two positions")
    return figure


def running_mean(values: Sequence[float], window: int) -> list[float]:
    """Average each `window` values in a row; the first mean ends at value number `window`."""
    return [sum(values[end - window : end]) / window for end in range(window, len(values) + 1)]


def draw_curves(losses: Sequence[float], accuracies: Sequence[float]) -> Figure:
    """Draw the loss of each step, faint, with its running mean; and dev accuracy by epoch."""
    figure = new_figure(8.4, 3.2)
    left, right = figure.subplots(1, 2)
    dark, faint = palette(3)[:2]
    window = max(1, math.ceil(len(losses) / 40))
    starts = range(window, len(losses) + 1)
    means = running_mean(losses, window)
    steps = range(1, len(losses) + 1)
    left.plot(steps, losses, color=faint, alpha=0.6, linewidth=0.8, label="each step")
    left.plot(starts, means, color=dark, linewidth=2, label=f"mean of {window} steps")
    left.set(xlabel="step", ylabel="training loss", ylim=(0.0, None))
    left.legend()
    epochs = range(1, len(accuracies) + 1)
    right.plot(epochs, accuracies, color=dark, marker="o")
    right.set(xlabel="epoch", ylabel="dev accuracy", xticks=epochs)
    right.grid(axis="y", linewidth=0.4)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def draw_pretraining(
    own: Sequence[tuple[float, float]], staff: Sequence[tuple[float, float]]
) -> Figure:
    """Draw the losses of both tasks by step, faint, with their running means, beside the staff's.

    Args:
        own, staff: for each step, the losses of masked tokens and of next sentences; `staff` may
            be empty.
    """
    figure = new_figure(8.4, 3.2)
    dark, faint = palette(3)[:2]
    titles = ("masked tokens", "next sentence")
    for task, (axes, title) in enumerate(zip(figure.subplots(1, 2), titles, strict=True)):
        values = [losses[task] for losses in own]
        window = max(1, math.ceil(len(values) / 40))
        steps = range(1, len(values) + 1)
        axes.plot(steps, values, color=faint, alpha=0.6, linewidth=0.8, label="each step")
        means = running_mean(values, window)
        label = f"mean of {window} steps"
        axes.plot(range(window, len(values) + 1), means, color=dark, linewidth=2, label=label)
        theirs = running_mean([losses[task] for losses in staff], window)
        if theirs:
            reached = range(window, len(staff) + 1)
            axes.plot(reached, theirs, "--", color="black", linewidth=1.2, label="the staff's mean")
        axes.set(xlabel="step", ylabel="loss", ylim=(0.0, None), title=title)
        axes.spines[["top", "right"]].set_visible(False)
    axes.legend()
    return figure
