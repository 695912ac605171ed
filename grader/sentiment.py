"""Sentiment: fine-tune from the frozen checkpoint, predict dev sentences, compute accuracy.

Once the values of all five functions are right, the submission gets the training sentences with
their labels and returns its weights, with which correct code predicts the dev sentences; see
tensormark/toolkit/training.py. Dev labels stay here. The threshold is in the manifest, with the
runs that it comes from (see instructor/gate).
"""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from tensormark.references import References, ReferencesError
from tensormark.sandbox.interface import Request
from tensormark.task import TaskRun
from tensormark.toolkit.training import Tensors, Training, TrainingTask, threshold_of

DEADLINE = 600.0  # seconds, if the threshold was recorded without the time of its runs
DATA = ("train.txt", "dev.txt")
HIDDEN = "dev.txt"  # in private references: sentences that replace the public ones
ENTRY = "sentiment"  # in the manifest: the threshold, or why there is none
PREDICTION_DEADLINE = 120.0  # seconds; a laptop takes one
SLACK = 1 << 20  # bytes, for the layer that is not in the checkpoint, and for names


@dataclasses.dataclass(frozen=True)
class Sentences:
    """One file of `label ||| sentence` lines."""

    labels: np.ndarray
    texts: list[str]


def read_sentences(path: Path) -> Sentences:
    """Read a data file.

    Raises:
        ReferencesError: a line is not `label ||| sentence`; the message gives file:line.
    """
    labels = []
    texts = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        label, separator, text = line.partition("|||")
        if not separator or not label.strip().isdecimal() or not text.strip():
            raise ReferencesError(f"{path}:{number}: a line should be `label ||| sentence`")
        labels.append(int(label))
        texts.append(text.strip())
    return Sentences(np.array(labels, dtype=np.int64), texts)


class GateTraining(Training):
    """The sentences, and the threshold for the accuracy on them."""

    what = "fine-tuning"
    model = "the fine-tuned model"
    measure = "dev accuracy"
    weights = "this checkpoint's weights"
    classes = ("bad", "good")  # of the reviews in data/

    def __init__(self, references: References, data: Path) -> None:
        """Read the data and the threshold.

        Raises:
            ReferencesError: a data file is not the one that the threshold was measured on.
        """
        references.check_data(data, DATA)
        self.train, self.dev = (read_sentences(data / name) for name in DATA)
        if HIDDEN in references.manifest["files"]:
            self.dev = read_sentences(references.check_file(HIDDEN))
        entry = threshold_of(references, ENTRY, "make gate references")
        self.threshold = float(entry["threshold"])
        self.seed = int(entry["seed"])
        self.seconds: float | None = entry.get("seconds")  # a correct model's time

    @property
    def labels(self) -> np.ndarray:
        """The labels of the dev sentences."""
        return self.dev.labels

    def texts(self) -> list[str]:
        """Return the dev sentences."""
        return self.dev.texts

    def call(self, kind: str, target: str) -> dict[str, Any]:
        """Return what the calls of both models have in common."""
        num_labels = int(self.train.labels.max()) + 1
        return {"kind": kind, "target": target, "num_labels": num_labels, "seed": self.seed}

    def training(self, room: int) -> Request:
        """Return the request to fine-tune.

        Args:
            room: bytes for the weights to return.
        """
        call = self.call("fine-tune", "fine-tuning") | {"train": self.train.texts}
        labels = {"labels": self.train.labels}
        return Request(
            "sentiment",
            frozenset(),
            call,
            labels,
            DEADLINE,
            reply_bytes=room,
            measured=self.seconds,
            given_code=True,  # the optimizer
        )

    def predicting(self, weights: Tensors) -> Request:
        """Return the request to predict the dev sentences with weights."""
        call = self.call("predict", "predicting") | {"predict": self.dev.texts}
        sent = {f"weights/{name}": value for name, value in weights.items()}
        return Request("sentiment", frozenset(), call, sent, PREDICTION_DEADLINE)

    def room(self, run: TaskRun) -> int:
        """Return how many bytes the weights may take: the checkpoint may be in half precision."""
        assert run.checkpoint is not None
        return 2 * (run.checkpoint / "model.safetensors").stat().st_size + SLACK


class Sentiment(TrainingTask):
    """The task: the fine-tuned model must reach the threshold."""

    entry = ENTRY
    data_files = DATA

    def training(self, run: TaskRun) -> GateTraining:
        """Read the data and the threshold."""
        return GateTraining(run.references, run.data)
