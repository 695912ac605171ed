"""The task: the trained detector must name the pattern in signals that it has not seen.

This code never runs in a submission's process. With private references, other signals are drawn.
"""

import numpy as np

from tensormark.sandbox.interface import Request
from tensormark.task import TaskRun
from tensormark.toolkit.training import Tensors, Training, TrainingTask

D = 2  # channels
T = 24  # steps
P = 8  # patterns
K = 5  # steps of a pattern
C = 3  # classes
TRAIN = 96  # signals to train on
OTHERS = 200  # signals to predict
STEPS = 60  # of training
MODEL = {"channels": D, "patterns": P, "width": K, "classes": C}
DEADLINE = 60.0  # seconds; correct code takes one


def draw(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw signals (N, D, T) of noise with the pattern of their class in it, and labels (N,)."""
    rng = np.random.default_rng(seed)
    patterns = 2.0 * rng.choice([-1.0, 1.0], (C, D, K))
    labels = rng.integers(C, size=TRAIN + OTHERS)
    signals = 0.5 * rng.standard_normal((len(labels), D, T))
    for signal, label in zip(signals, labels, strict=True):
        begin = rng.integers(T - K + 1)
        signal[:, begin : begin + K] += patterns[label]
    return signals.astype(np.float32), labels


class Signals(Training):
    """One grading: the signals of a seed."""

    threshold = 0.9  # correct code reached 0.96 to 1 with 20 seeds
    classes = ("first", "second", "third")

    def __init__(self, seed: int) -> None:
        """Draw the signals."""
        self.signals, self.all_labels = draw(seed)

    @property
    def labels(self) -> np.ndarray:
        """The labels of the signals to predict."""
        return self.all_labels[TRAIN:]

    def request(self, kind: str, tensors: Tensors, room: int = 0) -> Request:
        """Return a request for one of the harness's kinds of calls."""
        call = {"kind": kind, "target": "training", "model": MODEL, "seed": 0, "steps": STEPS}
        return Request("detection", frozenset(), call, tensors, DEADLINE, reply_bytes=room)

    def training(self, room: int) -> Request:
        """Return the request to train."""
        tensors = {"signals": self.signals[:TRAIN], "labels": self.all_labels[:TRAIN]}
        return self.request("train", tensors, room)

    def predicting(self, weights: Tensors) -> Request:
        """Return the request to predict with weights."""
        named = {f"weights/{name}": value for name, value in weights.items()}
        return self.request("predict", named | {"others": self.signals[TRAIN:]})


class Detection(TrainingTask):
    """Trains the submission's detector."""

    def training(self, run: TaskRun) -> Signals:
        """Draw the signals of the references' seed."""
        return Signals(run.references.manifest["seed"])
