"""What a task may show in reports: curves, a confusion table and misclassified examples.

The submission's own process reports the loss of each step and the predictions before the end: they
are only plotted, and do not affect the score.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.references import under

MAX_POINTS = 100  # of a curve, at most
MAX_MISREAD = 10  # how many examples are listed
MAX_LENGTH = 300  # characters of an example
MAX_STEPS = 1_000_000  # of a loss curve
Tensors = Mapping[str, np.ndarray]


def _smooth(values: np.ndarray) -> list[float | None]:
    """Return a curve of at most MAX_POINTS points: means of neighbours."""
    parts = np.array_split(values.astype(np.float64), min(MAX_POINTS, len(values)))
    means = [float(part.mean()) for part in parts]
    return [float(f"{mean:.5g}") if np.isfinite(mean) else None for mean in means]


def loss_curve(tensors: Tensors) -> list[dict[str, Any]]:
    """Return the curve of out/losses, or no curve if they are invalid."""
    losses = tensors.get("out/losses")
    if losses is None or losses.dtype != np.float32 or losses.ndim != 1:
        return []
    if not 1 < losses.size <= MAX_STEPS:
        return []
    fields = {"name": "training loss", "steps": int(losses.size), "unit": "step"}
    return [{**fields, "values": _smooth(losses), "threshold": None}]


def accuracy_curve(
    tensors: Tensors, final: float, labels: np.ndarray, threshold: float, name: str = "accuracy"
) -> list[dict[str, Any]]:
    """Return the curve of the accuracy after each quarter of the steps, or no curve.

    Args:
        tensors: contains the predictions out/after/1 to out/after/3.
        final: the accuracy at the end.
        name: the name of the curve.
    """
    after = under(tensors, "out/after/")
    values: list[float | None] = []
    for quarter in (1, 2, 3):
        guesses = after.get(str(quarter))
        if guesses is None or guesses.dtype != np.int64 or guesses.shape != labels.shape:
            break
        values.append(round(float((guesses == labels).mean()), 5))
    if not values:
        return []
    values.append(round(final, 5))
    fields = {"name": name, "steps": len(values), "unit": "quarter"}
    return [{**fields, "values": values, "threshold": threshold}]


def confusion(
    labels: np.ndarray,
    predictions: np.ndarray,
    texts: Sequence[str] = (),
    classes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the confusion table and the first misclassified examples.

    Args:
        texts: the examples' texts; without them no examples are listed.
        classes: the names of the classes; used if their number matches the labels.
    """
    count = int(labels.max()) + 1
    names = list(classes) if count == len(classes) else [str(label) for label in range(count)]
    valid = (predictions >= 0) & (predictions < count)  # untrusted
    table = np.zeros((count, count), dtype=np.int64)
    np.add.at(table, (labels[valid], predictions[valid]), 1)
    wrong = np.flatnonzero(valid & (predictions != labels))[:MAX_MISREAD].tolist()
    misread = [
        {
            "text": texts[i][:MAX_LENGTH],
            "expected": names[int(labels[i])],
            "got": names[int(predictions[i])],
        }
        for i in (wrong if texts else ())
    ]
    return {"classes": names, "confusion": table.tolist(), "misread": misread}
