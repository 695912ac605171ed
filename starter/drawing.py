"""Draws the pictures of visualize.py: numbers in, a PNG or SVG file out.

Colours are from viridis and cividis, which colour-blind readers can distinguish and which keep
their order when printed in grey; classes also differ in shape.

Dimension key: T tokens, H heads, D model width, C classes.
"""

import io
import math
import os
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

FORMATS = (".png", ".svg")
DPI = 110  # of a PNG: readable on screen, and small
MARKERS = "o^sDvP*X"  # of the classes, in order
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
    unfinished = path.with_name(path.name + ".tmp")
    unfinished.write_bytes(content.getvalue())
    os.replace(unfinished, path)


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


def draw_curves(losses: Sequence[float], accuracies: Sequence[float]) -> Figure:
    """Draw the loss of each step, faint, with its running mean; and dev accuracy by epoch."""
    figure = new_figure(8.4, 3.2)
    left, right = figure.subplots(1, 2)
    dark, faint = palette(3)[:2]
    window = max(1, math.ceil(len(losses) / 40))
    starts = range(window, len(losses) + 1)
    means = [sum(losses[end - window : end]) / window for end in starts]
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
