"""What a fine-tuning run leaves, and what it tells: curves, confusion, ensemble, comparison.

Dimension key: N sentences, C classes.
"""

import math
import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from support.saving import write_whole
from support.sentences import InputError, Split

if TYPE_CHECKING:  # installed when figures are drawn for the first time
    from matplotlib.figure import Figure

SCORES_NAME = "scores.safetensors"
SMOOTHED = 50  # steps whose mean loss is one point of the curve
LEVEL = 0.05  # two runs with a p above it cannot be told apart


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of matplotlib's, in inches.

    Raises:
        InputError: matplotlib is not installed.
    """
    os.environ["MPLBACKEND"] = "agg"  # a notebook names one that only it has
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        fix = f"run `{sys.executable} -m pip install matplotlib`"
        raise InputError(f"figures need matplotlib: {fix}") from None
    return Figure((width, height), layout="constrained")


def draw_curves(losses: Sequence[float], accuracies: Sequence[float], path: Path) -> None:
    """Draw the loss of the training steps, and the dev accuracy after each epoch.

    Raises:
        InputError: matplotlib is not installed.
    """
    figure = new_figure(9, 3.5)
    left, right = figure.subplots(1, 2)
    means = [part.mean().item() for part in torch.tensor(losses).split(SMOOTHED)]
    left.plot([SMOOTHED * (number + 0.5) for number in range(len(means))], means)
    left.set(xlabel="step", ylabel=f"training loss (mean of {SMOOTHED} steps)", ylim=(0, None))
    epochs = range(1, len(accuracies) + 1)
    right.plot(epochs, accuracies, marker="o")
    right.set(xlabel="epoch", ylabel="dev accuracy", xticks=epochs)
    figure.savefig(path)


def print_confusion(predictions: Tensor, labels: Tensor) -> None:
    """Print how often (N,) predictions say each class for each label, and how far off they are."""
    C = int(max(predictions.max(), labels.max())) + 1
    counts = (labels * C + predictions).bincount(minlength=C * C).view(C, C).tolist()
    print("predicted" + "".join(f"{label:6}" for label in range(C)))
    for label, row in enumerate(counts):
        print(f"label {label:2} " + "".join(f"{count:6}" for count in row))
    off = (predictions - labels).abs()
    near = (off == 1).double().mean()
    far = (off > 1).double().mean()
    print(f"one off: {near:.3f} of all sentences, more than one: {far:.3f}")


def key_of(split: Split) -> str:
    """Name sentences by what they say, so that scores are never used for others."""
    return sha256("\n".join(split.sentences).encode()).hexdigest()


def save_scores(folder: Path, splits: Sequence[Split], scores: Sequence[Tensor]) -> None:
    """Write the probabilities of the classes, (N, C) for each split."""
    named = zip(map(key_of, splits), scores, strict=True)
    write_whole(folder / SCORES_NAME, save(dict(named)))


def mean_scores(folders: Sequence[Path], split: Split) -> Tensor:
    """Average the probabilities, (N, C), that runs with `--save` gave the classes of sentences.

    Raises:
        InputError: a run wrote none, or for other sentences.
    """
    scores = []
    for folder in folders:
        path = folder / SCORES_NAME
        try:
            saved = load_file(path)
        except (OSError, SafetensorError) as error:
            raise InputError(f"{path}: missing or damaged; `--save {folder}` writes it") from error
        if key_of(split) not in saved:
            raise InputError(f"{path}: of other sentences; all runs need the same --task")
        scores.append(saved[key_of(split)])
        if scores[-1].shape != scores[0].shape:
            raise InputError(f"{path}: of other classes than {folders[0] / SCORES_NAME}")
    return torch.stack(scores).mean(dim=0)


def sign_test(gained: int, lost: int) -> float:
    """Return how likely a fair coin is at least as uneven: McNemar's exact test, two-sided."""
    tosses = gained + lost
    tail = sum(math.comb(tosses, heads) for heads in range(min(gained, lost) + 1))
    return min(1.0, 2 * tail / 2**tosses)


def compare(folders: Sequence[Path], dev: Split) -> None:
    """Print the dev accuracy of runs, and test each against the first, sentence by sentence."""
    right = [mean_scores([folder], dev).argmax(dim=1) == dev.labels for folder in folders]
    for folder, rows in zip(folders, right, strict=True):
        print(f"{folder}: dev accuracy {rows.double().mean().item():.4f}")
    for folder, rows in zip(folders[1:], right[1:], strict=True):
        gained = int((rows & ~right[0]).sum())
        lost = int((right[0] & ~rows).sum())
        p = sign_test(gained, lost)
        verdict = "cannot be told apart"
        if p < LEVEL:
            verdict = "better" if gained > lost else "worse"
        print(f"{folder} against {folders[0]}: {gained} gained, {lost} lost, p {p:.2g}: {verdict}")
