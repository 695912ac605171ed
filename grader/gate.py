"""The sentiment gate: labels stay here, the worker is sent sentences.

The threshold comes from measurement and stands in the manifest (see instructor/measure_gate.py).
"""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from grader.outcomes import CheckFailed, Finding
from grader.sandbox import Reply, Request
from grader.store import Store, StoreError

DEADLINE = 600.0  # seconds; the fine-tune takes 10 to 20 on a laptop
DATA = ("train.txt", "dev.txt")
HIDDEN = "dev.txt"  # among private references: sentences instead of the public ones


@dataclasses.dataclass(frozen=True)
class Sentences:
    """One file of `label ||| sentence` lines."""

    labels: np.ndarray
    texts: list[str]


def read_sentences(path: Path) -> Sentences:
    """Read a data file.

    Raises:
        StoreError: a line is not `label ||| sentence`; the message gives file:line.
    """
    labels, texts = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        label, separator, text = line.partition("|||")
        if not separator or not label.strip().isdecimal() or not text.strip():
            raise StoreError(f"{path}:{number}: a line should be `label ||| sentence`")
        labels.append(int(label))
        texts.append(text.strip())
    return Sentences(np.array(labels, dtype=np.int64), texts)


class Gate:
    """Fine-tunes with a student's model, and counts what it then gets right."""

    def __init__(self, store: Store, data: Path) -> None:
        """Read the data and the threshold.

        Raises:
            StoreError: a data file is not the one that the threshold was measured on.
        """
        store.check_data(data, DATA)
        self.train, self.dev = (read_sentences(data / name) for name in DATA)
        if HIDDEN in store.manifest["files"]:
            self.dev = read_sentences(store.check_file(HIDDEN))
        entry = store.manifest.get("sentiment")
        path = store.folder / "manifest.json"
        if isinstance(entry, str):
            raise StoreError(f"{path} says: {entry}")
        if not isinstance(entry, dict):
            raise StoreError(f"{path} has no sentiment threshold; run `make gate references`")
        self.threshold, self.seed = float(entry["threshold"]), int(entry["seed"])

    def request(self) -> Request:
        """Return what the worker is asked: no dev label is in it."""
        call: dict[str, Any] = {
            "kind": "fine-tune",
            "target": "fine-tuning",
            "train": self.train.texts,
            "predict": self.dev.texts,
            "num_labels": int(self.train.labels.max()) + 1,
            "seed": self.seed,
        }
        return Request("sentiment", frozenset(), call, {"labels": self.train.labels}, DEADLINE)

    def accuracy(self, reply: Reply) -> float:
        """Return the share of dev sentences that were predicted rightly.

        Raises:
            CheckFailed: training did not come to its end, or gave no predictions.
        """
        if reply.status == "not written":  # the exercises are, or the gate would not have opened
            raise CheckFailed(Finding(f"fine-tuning: raised NotImplementedError: {reply.text}"))
        if reply.status != "ok":
            raise CheckFailed(Finding(f"fine-tuning: {reply.text}"))
        predictions = reply.tensors.get("out/predictions")
        if predictions is None or predictions.dtype != np.int64:
            raise CheckFailed(Finding("fine-tuning gave no predictions"))
        if predictions.shape != self.dev.labels.shape:
            raise CheckFailed(Finding("fine-tuning gave another number of predictions"))
        return float((predictions == self.dev.labels).mean())
