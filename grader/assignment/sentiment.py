"""Sentiment: fine-tune from the frozen checkpoint, predict dev sentences, compute accuracy.

The worker gets the training sentences with their labels and the dev sentences without; accuracy is
computed here, and dev labels stay here. The threshold is in the manifest, with the runs it comes
from (see instructor/gate).
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from grader.references import References, ReferencesError
from grader.result import CheckFailed, Finding
from grader.sandbox.interface import Reply, Request

DEADLINE = 600.0  # seconds; the fine-tune takes 10 to 20 on a laptop
DATA = ("train.txt", "dev.txt")
HIDDEN = "dev.txt"  # in private references: sentences that replace the public ones
ENTRY = "sentiment"  # of the manifest: the threshold, or why there is none


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
    labels, texts = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        label, separator, text = line.partition("|||")
        if not separator or not label.strip().isdecimal() or not text.strip():
            raise ReferencesError(f"{path}:{number}: a line should be `label ||| sentence`")
        labels.append(int(label))
        texts.append(text.strip())
    return Sentences(np.array(labels, dtype=np.int64), texts)


class Gate:
    """The sentences, and the threshold for the accuracy on them."""

    def __init__(self, references: References, data: Path) -> None:
        """Read the data and the threshold.

        Raises:
            ReferencesError: a data file is not the one that the threshold was measured on.
        """
        references.check_data(data, DATA)
        self.train, self.dev = (read_sentences(data / name) for name in DATA)
        if HIDDEN in references.manifest["files"]:
            self.dev = read_sentences(references.check_file(HIDDEN))
        entry = references.manifest.get(ENTRY)
        path = references.folder / "manifest.json"
        if isinstance(entry, str):
            raise ReferencesError(f"{path} says: {entry}")
        if not isinstance(entry, dict):
            raise ReferencesError(f"{path} has no sentiment threshold; run `make gate references`")
        self.threshold, self.seed = float(entry["threshold"]), int(entry["seed"])

    def request(self) -> Request:
        """Return the request for the worker; it contains no dev labels."""
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
        """Return the share of dev sentences that were predicted correctly.

        Raises:
            CheckFailed: training did not finish, or returned no valid predictions.
        """
        if reply.status == "not written":  # all exercises are written, or it would not run
            raise CheckFailed(Finding(f"fine-tuning: raised NotImplementedError: {reply.text}"))
        if reply.unimportable:
            lines = tuple(filter(None, [reply.text, reply.advice]))
            raise CheckFailed(Finding(f"{reply.unimportable} cannot be imported", lines))
        if reply.status != "ok":
            raise CheckFailed(Finding(f"fine-tuning: {reply.text}"))
        predictions = reply.tensors.get("out/predictions")
        if predictions is None or predictions.dtype != np.int64:
            raise CheckFailed(Finding("fine-tuning returned no predictions"))
        if predictions.shape != self.dev.labels.shape:
            raise CheckFailed(Finding("fine-tuning returned the wrong number of predictions"))
        return float((predictions == self.dev.labels).mean())


class Sentiment:
    """The task: the fine-tuned model must reach the threshold."""

    def left_out(self, references: References) -> str | None:
        """Return the manifest's reason if it has no threshold."""
        entry = references.manifest.get(ENTRY)
        return entry if isinstance(entry, str) else None

    def grade(self, references: References, data: Path, ask: Callable[[Request], Reply]) -> str:
        """Fine-tune and compare the dev accuracy with the threshold; return it in words.

        Raises:
            CheckFailed: the model is not good enough, or returned no valid predictions.
            ReferencesError: data or threshold cannot be used.
        """
        gate = Gate(references, data)
        accuracy = gate.accuracy(ask(gate.request()))
        if not accuracy >= gate.threshold:
            details = (
                f"dev accuracy {accuracy:.3f}, a correct model reaches {gate.threshold:.3f}",
            )
            raise CheckFailed(Finding("the fine-tuned model is not good enough", details))
        return f"dev accuracy {accuracy:.3f}"
