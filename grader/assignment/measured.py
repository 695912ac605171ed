"""What the sentiment task shows in reports: curves, and which sentences were misread.

The loss of each step, and predictions before the end, are what the submission's process says
of itself: they are drawn, and count for nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from grader.references import under

CLASSES = ("bad", "good")  # of the reviews in data/
POINTS = 100  # of a curve
MISREAD = 10  # sentences that are listed
LONGEST = 300  # characters of a sentence
MOST_STEPS = 1_000_000  # that are looked at
Tensors = Mapping[str, np.ndarray]


def smooth(values: np.ndarray) -> list[float | None]:
    """Return a curve of at most POINTS points: means of neighbours."""
    parts = np.array_split(values.astype(np.float64), min(POINTS, len(values)))
    means = [float(part.mean()) for part in parts]
    return [float(f"{mean:.5g}") if np.isfinite(mean) else None for mean in means]


def loss_curve(tensors: Tensors) -> list[dict[str, Any]]:
    """Return the curve of the losses, or none if they are not what they should be."""
    losses = tensors.get("out/losses")
    if losses is None or losses.dtype != np.float32 or losses.ndim != 1:
        return []
    if not 1 < losses.size <= MOST_STEPS:
        return []
    about = {"name": "training loss", "steps": int(losses.size), "unit": "step"}
    return [{**about, "values": smooth(losses), "threshold": None}]


def accuracy_curve(
    tensors: Tensors, final: float, labels: np.ndarray, threshold: float
) -> list[dict[str, Any]]:
    """Return the curve of the accuracy after each quarter of the steps, or none."""
    after = under(tensors, "out/after/")
    values: list[float | None] = []
    for quarter in (1, 2, 3):
        found = after.get(str(quarter))
        if found is None or found.dtype != np.int64 or found.shape != labels.shape:
            break
        values.append(round(float((found == labels).mean()), 5))
    if not values:
        return []
    values.append(round(final, 5))
    about = {"name": "dev accuracy", "steps": len(values), "unit": "quarter"}
    return [{**about, "values": values, "threshold": threshold}]


def confusion(labels: np.ndarray, predictions: np.ndarray, texts: Sequence[str]) -> dict[str, Any]:
    """Return how often each class was taken for which, and the first sentences misread."""
    count = int(labels.max()) + 1
    names = CLASSES if count == len(CLASSES) else [str(label) for label in range(count)]
    known = (predictions >= 0) & (predictions < count)  # they may be anything
    table = np.zeros((count, count), dtype=np.int64)
    np.add.at(table, (labels[known], predictions[known]), 1)
    wrong = [int(i) for i in np.flatnonzero(known & (predictions != labels))[:MISREAD]]
    misread = [
        {
            "text": texts[i][:LONGEST],
            "expected": names[int(labels[i])],
            "got": names[int(predictions[i])],
        }
        for i in wrong
    ]
    return {"classes": list(names), "confusion": table.tolist(), "misread": misread}
