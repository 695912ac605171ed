"""The task: a trained detector has to name the pattern in signals that it has not seen.

Labels of those signals stay here, and so does the threshold, which is in the manifest.
"""

import numpy as np

from tensormark.references import References
from tensormark.result import CheckFailed, Finding
from tensormark.sandbox.interface import Reply, Request
from tensormark.task import Task, TaskRun

ENTRY = "detection"  # of the manifest: the threshold and the seed
SIZES = {"D": 2, "T": 24, "P": 8, "K": 5, "C": 3}
TRAIN, OTHERS, STEPS = 96, 200, 60  # signals to train on and to predict, steps of training


def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw signals (N, D, T) of noise with the pattern of their class in it, and labels (N,)."""
    rng = np.random.default_rng(seed)
    patterns = 2.0 * rng.choice([-1.0, 1.0], (SIZES["C"], SIZES["D"], SIZES["K"]))
    labels = rng.integers(SIZES["C"], size=TRAIN + OTHERS)
    signals = 0.5 * rng.standard_normal((len(labels), SIZES["D"], SIZES["T"]))
    for signal, label in zip(signals, labels, strict=True):
        begin = rng.integers(SIZES["T"] - SIZES["K"] + 1)
        signal[:, begin : begin + SIZES["K"]] += patterns[label]
    return signals.astype(np.float32), labels


def accuracy(reply: Reply, labels: np.ndarray) -> float:
    """Return the share of signals whose label was predicted.

    Raises:
        CheckFailed: there are no predictions.
    """
    if reply.status != "ok":
        raise CheckFailed(Finding(f"training: {reply.text}"))
    predictions = reply.tensors.get("out/predictions")
    if predictions is None or predictions.shape != labels.shape:
        raise CheckFailed(Finding("training gave no predictions"))
    return float((predictions == labels).mean())


class Detection(Task):
    """Trains the student's detector with the student's optimizer."""

    def left_out(self, references: References) -> str | None:
        """Return why the task is left out: the references have no threshold."""
        return None if ENTRY in references.manifest else "its threshold was not measured"

    def grade(self, run: TaskRun) -> str:
        """Train and compare the accuracy with the threshold; return it in words.

        Raises:
            CheckFailed: it is too low, or there are no predictions.
        """
        threshold, seed = (run.references.manifest[ENTRY][name] for name in ("threshold", "seed"))
        signals, labels = draw(seed)
        call = {"kind": "train", "target": "training", "config": SIZES, "seed": seed}
        sent = {"signals": signals[:TRAIN], "labels": labels[:TRAIN], "others": signals[TRAIN:]}
        reply = run.ask(Request(ENTRY, frozenset(), call | {"steps": STEPS}, sent))
        reached = accuracy(reply, labels[TRAIN:])
        if not reached >= threshold:
            details = (f"accuracy {reached:.2f}, a right one reaches {threshold:.2f}",)
            raise CheckFailed(Finding("the trained detector is not good enough", details))
        return f"accuracy {reached:.2f}"
