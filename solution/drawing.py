"""Draws the pictures of visualize.py: numbers in, a PNG or SVG file out.

Colours are those of colours.py; classes also differ in shape.

Dimension key: T tokens, H heads, D model width, C classes.
"""

import io
import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure
from torch import Tensor

from colours import ABOVE, BELOW, CLASSES, FAINT, LEVELS, LINE, ZERO, level
from sentences import write_whole
from vectors import Neighbours

FORMATS = (".png", ".svg")
DPI = 110  # of a PNG: readable on screen, and small
MARKERS = "o^sDvP*X"  # of the classes, in order
HATCHES = ("", "///", "...", "xxx")
TINIEST = 1e-30  # below it, a value is not off at all
TEXT = 9  # points
BELOW_POINT = {"textcoords": "offset points", "ha": "center", "fontsize": TEXT - 1}

STYLE = {
    "font.size": TEXT,
    "axes.titlesize": TEXT + 1,
    "svg.hashsalt": "minBERT",  # equal input gives equal files
    "svg.fonttype": "none",  # text stays text, to be searched and read aloud
}
SHARES = LinearSegmentedColormap.from_list("shares", (ZERO, *ABOVE))  # from 0 up
SIGNED = LinearSegmentedColormap.from_list("signed", (*BELOW, ZERO, *ABOVE))  # 0 in the middle


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


def shade(value: float, largest: float) -> str:
    """Return the colour of a value on the scale."""
    return (ZERO, *ABOVE, *BELOW)[level(value, largest)]


def class_colour(number: int) -> str:
    """Return the colour of a class; those beyond the fourth begin again, in another shape."""
    return CLASSES[number % len(CLASSES)]


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
            image = axes.imshow(maps[row, column].numpy(), cmap=SHARES, vmin=0.0, vmax=1.0)
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
    bars = axes.barh(tokens, probabilities, color=LINE)
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
    for axes, (title, points) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
        for number, label in enumerate(classes):
            mine = points[labels == label]
            shape = MARKERS[number % len(MARKERS)]
            style = {"marker": shape, "s": 20, "linewidths": 0.4, "edgecolors": "black"}
            axes.scatter(
                *mine.T.numpy(), color=class_colour(number), label=f"label {label}", **style
            )
        axes.set_title(title)
        axes.set_xlabel("first principal component")
        axes.set_ylabel("second principal component")
    axes.legend()
    return figure


def list_neighbours(axes: Axes, near: Neighbours, classes: Sequence[int]) -> None:
    """Write the nearest sentences as a table: label, cosine, sentence, and rank elsewhere."""
    for row, (sentence, cosine, label, rank) in enumerate(near.nearest):
        number = classes.index(label)
        style = {"color": class_colour(number), "marker": MARKERS[number % len(MARKERS)]}
        axes.scatter([0.01], [row], s=24, edgecolors="black", linewidths=0.4, **style)
        for x, text in ((0.04, f"{cosine:.3f}"), (0.13, sentence), (0.98, rank)):
            side = "right" if text is rank else "left"
            axes.text(x, row, text, ha=side, va="center", fontsize=TEXT - 1, parse_math=False)
    axes.set(xlim=(0.0, 1.0), ylim=(len(near.nearest) - 0.5, -0.7))
    axes.set_axis_off()


def draw_neighbours(panels: dict[str, Neighbours], title: str) -> Figure:
    """Draw the sentences near another one, beside the cosines of all sentences, by label.

    Args:
        panels: the sentences for each title.
        title: the sentence that they are near.
    """
    classes = sorted({int(label) for near in panels.values() for label in near.labels})
    figure = new_figure(11.0, 2.3 * len(panels) + 0.8)
    grid = figure.subplots(len(panels), 2, squeeze=False, width_ratios=(7, 3))
    for (left, right), (when, near) in zip(grid, panels.items(), strict=True):
        list_neighbours(left, near, classes)
        left.set_title(f"{when}: the nearest", loc="left")
        for number, label in enumerate(classes):
            mine = near.cosines[near.labels == label].numpy()
            style = {"color": class_colour(number), "hatch": HATCHES[number % len(HATCHES)]}
            right.hist(mine, bins=40, range=(-1, 1), alpha=0.7, label=f"label {label}", **style)
        right.set(title=f"{when}: all", xlabel="cosine", ylabel="sentences")
        right.spines[["top", "right"]].set_visible(False)
    handles = grid[0][1].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper right", ncols=len(classes))
    figure.suptitle(title, fontsize=TEXT + 1, parse_math=False)
    return figure


def draw_words(tokens: Sequence[str], added: Sequence[float], title: str) -> Figure:
    """Draw what each token of a review adds to its verdict: a bar for each, in their order."""
    figure = new_figure(6.4, 0.24 * len(tokens) + 1.2)
    axes, largest = figure.subplots(), max(map(abs, added))
    colours = [shade(value, largest) for value in added]
    bars = axes.barh(range(len(tokens)), added, color=colours, edgecolor="0.3", linewidth=0.5)
    axes.bar_label(bars, labels=[f" {value:+.2f} " for value in added], fontsize=TEXT - 1)
    axes.set_yticks(range(len(tokens)), tokens, parse_math=False)
    axes.invert_yaxis()
    axes.margins(x=0.2)
    axes.axvline(0.0, color="0.3", linewidth=0.8)
    axes.set_xlabel("added to the log odds of the verdict")
    axes.set_title(title, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
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

    In the colours of the report: allowed values are grey, NaN and infinite ones black.

    Args:
        excerpt: of a report: the names of the axes, and the map of the differences.
    """
    found, names = excerpt["map"], ["", *excerpt["axes"]]
    panels, largest = found["panels"], max(found["largest"], 10 * TINIEST)
    rows, columns = len(panels[0]["cells"]), len(panels[0]["cells"][0])
    width = (0.16 * columns + 0.6) * len(panels) + 1.4
    figure = new_figure(max(4.5, width), max(2.2, 0.2 * rows + 1.3))
    grid = figure.subplots(1, len(panels), squeeze=False)[0]
    bounds = [largest * step / LEVELS for step in range(1, LEVELS + 1)]
    norm = BoundaryNorm([-1.0, TINIEST, *bounds], LEVELS + 1)
    colours = ListedColormap((ZERO, *ABOVE)).with_extremes(bad="black")
    for axes, panel in zip(grid, panels, strict=True):
        cells = [[math.nan if cell is None else cell for cell in row] for row in panel["cells"]]
        image = axes.imshow(cells, cmap=colours, norm=norm, aspect="auto")
        name_places(axes, found, panel)
        place = zip(excerpt["axes"], panel["index"], strict=False)
        axes.set(title=", ".join(f"{name} {i}" for name, i in place), xlabel=names[-1])
    grid[0].set_ylabel(names[-2])
    key = figure.colorbar(image, ax=grid, label="off by", fraction=0.05, spacing="uniform")
    key.set_ticks([-0.5, *bounds], labels=["allowed", *(f"up to {bound:.2g}" for bound in bounds)])
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
        image = axes.imshow(values.numpy(), cmap=SIGNED, vmin=-1.0, vmax=1.0, aspect="auto")
        axes.set_title(title)
        axes.set_xlabel("position")
        axes.set_ylabel("position")
    grid[0].set_xlabel("unit")
    figure.colorbar(image, ax=grid, label="value, or cosine of two positions")
    return figure


def running_mean(values: Sequence[float], window: int) -> list[float]:
    """Average each `window` values in a row; the first mean ends at value number `window`."""
    return [sum(values[end - window : end]) / window for end in range(window, len(values) + 1)]


def draw_curves(losses: Sequence[float], measured: dict[int, float], epochs: int) -> Figure:
    """Draw the loss of each step, faint, with its running mean; and dev accuracy on the way.

    Args:
        measured: the accuracy after some steps; a line marks where each epoch ends.
    """
    figure = new_figure(8.4, 3.2)
    left, right = figure.subplots(1, 2)
    window = max(1, math.ceil(len(losses) / 40))
    starts = range(window, len(losses) + 1)
    means = running_mean(losses, window)
    steps = range(1, len(losses) + 1)
    left.plot(steps, losses, color=FAINT, alpha=0.6, linewidth=0.8, label="each step")
    left.plot(starts, means, color=LINE, linewidth=2, label=f"mean of {window} steps")
    left.set(ylabel="training loss", ylim=(0.0, None))
    left.legend()
    right.plot([*measured], [*measured.values()], color=LINE, marker="o")
    lowest, highest = min(measured.values()), max(measured.values())
    at = max(measured)
    right.annotate(f"{measured[at]:.3f}", (at, measured[at]), (0, -13), **BELOW_POINT)
    room = max(0.02, (highest - lowest) * 0.25)
    right.set(ylabel="dev accuracy", ylim=(lowest - room, min(1.0, highest) + room / 2))
    right.grid(axis="y", linewidth=0.4)
    for axes in (left, right):
        for epoch in range(1, epochs + 1):
            axes.axvline(len(losses) * epoch / epochs, color="0.6", linewidth=0.8, linestyle=":")
        ends = "the end" if epochs == 1 else "an end"
        axes.set(xlim=(0, len(losses) * 1.03), xlabel=f"step (dotted: {ends} of an epoch)")
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
    titles = ("masked tokens", "next sentence")
    for task, (axes, title) in enumerate(zip(figure.subplots(1, 2), titles, strict=True)):
        values = [losses[task] for losses in own]
        window = max(1, math.ceil(len(values) / 40))
        steps = range(1, len(values) + 1)
        axes.plot(steps, values, color=FAINT, alpha=0.6, linewidth=0.8, label="each step")
        means = running_mean(values, window)
        label = f"mean of {window} steps"
        axes.plot(range(window, len(values) + 1), means, color=LINE, linewidth=2, label=label)
        theirs = running_mean([losses[task] for losses in staff], window)
        if theirs:
            reached = range(window, len(staff) + 1)
            axes.plot(reached, theirs, "--", color="black", linewidth=1.2, label="the staff's mean")
        axes.set(xlabel="step", ylabel="loss", ylim=(0.0, None), title=title)
        axes.spines[["top", "right"]].set_visible(False)
    axes.legend()
    return figure
