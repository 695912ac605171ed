"""Sentiment: fine-tune from the frozen checkpoint, predict dev sentences, compute accuracy.

Where the values of all five functions are right, a submission can be judged by what it has learned
and not by what it says: it gets the training sentences with their labels and returns the weights,
and a model of the solution's code, in a process of its own, predicts the dev sentences from them.
The submission never sees these. Otherwise it gets them, without labels, and its own predictions
count, which the result flags. Accuracy is computed here, and dev labels stay here.

Covered: predictions that were not made by a BERT with the submission's weights; private sentences
that a submission has seen are in none of the numbers shown. Not covered: how the weights came
about. The threshold is in the manifest, with the runs it comes from (see instructor/gate).
"""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from grader.assignment.measured import accuracy_curve, confusion, loss_curve
from grader.references import References, ReferencesError, under
from grader.result import CheckFailed, Finding
from grader.sandbox.interface import Reply, Request
from grader.task import TaskRun
from grader.trouble import trouble_in

DEADLINE = 600.0  # seconds; for a threshold that was recorded without the time of its runs
DATA = ("train.txt", "dev.txt")
HIDDEN = "dev.txt"  # in private references: sentences that replace the public ones
ENTRY = "sentiment"  # of the manifest: the threshold, or why there is none
PREDICTION_DEADLINE = 120.0  # seconds; a second on a laptop
MOST_WEIGHTS = 200 << 20  # bytes; a frame can carry a little more
SLACK = 1 << 20  # bytes, for the layer that is not in the checkpoint, and for names

Tensors = dict[str, np.ndarray]


class SolutionError(Exception):
    """The solution does not do what it should, which is not the submission's fault."""


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
        self.seconds: float | None = entry.get("seconds")  # that a correct model took

    def call(self, kind: str, target: str) -> dict[str, Any]:
        """Return what the calls of both models have in common."""
        num_labels = int(self.train.labels.max()) + 1
        return {"kind": kind, "target": target, "num_labels": num_labels, "seed": self.seed}

    def fine_tuning(self, room: int | None) -> Request:
        """Return the request to fine-tune; it contains no dev labels.

        Args:
            room: bytes for the weights, which are to be returned; None: predictions are.
        """
        call = self.call("fine-tune", "fine-tuning") | {
            "train": self.train.texts,
            "predict": self.dev.texts if room is None else None,
            "given_only": True,  # the optimizer
        }
        labels = {"labels": self.train.labels}
        return Request(
            "sentiment",
            frozenset(),
            call,
            labels,
            DEADLINE,
            reply_bytes=room or 0,
            measured=self.seconds,
        )

    def predicting(self, weights: Tensors) -> Request:
        """Return the request to predict the dev sentences with weights."""
        call = self.call("predict", "predicting") | {"predict": self.dev.texts}
        sent = {f"weights/{name}": value for name, value in weights.items()}
        return Request("sentiment", frozenset(), call, sent, PREDICTION_DEADLINE)

    def predictions(self, reply: Reply) -> np.ndarray:
        """Return the predictions for the dev sentences.

        Raises:
            CheckFailed: training did not finish, or returned no valid predictions.
        """
        predictions = finished(reply).get("out/predictions")
        if predictions is None or predictions.dtype != np.int64:
            raise CheckFailed(Finding("fine-tuning returned no predictions"))
        if predictions.shape != self.dev.labels.shape:
            raise CheckFailed(Finding("fine-tuning returned the wrong number of predictions"))
        return predictions

    def accuracy(self, reply: Reply) -> float:
        """Return the share of dev sentences that were predicted correctly.

        Raises:
            CheckFailed: training did not finish, or returned no valid predictions.
        """
        return float((self.predictions(reply) == self.dev.labels).mean())

    def measured(self, reply: Reply, told: Tensors, private: bool) -> dict[str, Any]:
        """Return what reports show; nothing about single sentences if these are private.

        Args:
            reply: a valid one, with the predictions.
            told: what the fine-tune returned and may be shown.
        """
        reached, predictions = self.accuracy(reply), self.predictions(reply)
        curves = loss_curve(told)
        shown = {"name": "dev accuracy", "value": reached, "threshold": self.threshold}
        if private:
            return {**shown, "curves": curves, "classes": [], "confusion": [], "misread": []}
        curves = accuracy_curve(told, reached, self.dev.labels, self.threshold) + curves
        return {**shown, "curves": curves} | confusion(self.dev.labels, predictions, self.dev.texts)


def finished(reply: Reply) -> Tensors:
    """Return what the fine-tune returned.

    Raises:
        CheckFailed: it did not finish.
    """
    if reply.status == "not written":  # all exercises are written, or it would not run
        raise CheckFailed(Finding(f"fine-tuning: raised NotImplementedError: {reply.text}"))
    if reply.status != "ok":
        raise CheckFailed(Finding(f"fine-tuning: {reply.text}"))
    return reply.tensors


def weights_of(reply: Reply, room: int) -> Tensors:
    """Return the weights that the fine-tune returned; their names and shapes are not known here.

    Raises:
        CheckFailed: it did not finish, or returned something else.
    """
    weights = under(finished(reply), "out/weights/")
    if not weights or any(value.dtype != np.float32 for value in weights.values()):
        raise CheckFailed(Finding("fine-tuning returned no weights"))
    if sum(value.nbytes for value in weights.values()) > room:
        raise CheckFailed(Finding("fine-tuning returned more weights than the model has"))
    if not all(np.isfinite(value).all() for value in weights.values()):
        raise CheckFailed(Finding("fine-tuning returned weights that are NaN or inf"))
    return weights


def room_for_weights(checkpoint: Path) -> int:
    """Return how many bytes a model's weights may have: those of the checkpoint may be halves."""
    return 2 * (checkpoint / "model.safetensors").stat().st_size + SLACK


def own_predictions_because(run: TaskRun) -> str:
    """Say why a submission's own predictions count; nothing if they do not."""
    if run.wrong:
        return f"the values of {', '.join(run.wrong)} are not right"
    if run.ask_solution is None:
        return run.why_not
    if room_for_weights(run.checkpoint) > MOST_WEIGHTS:
        return "this checkpoint's weights are too large to be returned"
    return ""


class Sentiment:
    """The task: the fine-tuned model must reach the threshold."""

    def left_out(self, references: References) -> str | None:
        """Return the manifest's reason if it has no threshold."""
        entry = references.manifest.get(ENTRY)
        return entry if isinstance(entry, str) else None

    def grade(self, run: TaskRun) -> str:
        """Fine-tune and compare the dev accuracy with the threshold; return it in words.

        Raises:
            CheckFailed: the model is not good enough, or returned no valid answer.
            ReferencesError: data or threshold cannot be used.
        """
        gate = Gate(run.references, run.data)
        reply, told = self.replies(gate, run)
        if run.references.private and reply.tensors is told:
            told = {}  # it has seen the sentences, and its losses could say what they are
        accuracy = gate.accuracy(reply)
        try:
            run.show(gate.measured(reply, told, run.references.private))
        except Exception as error:  # what is only shown decides nothing
            run.flag(f"its answer cannot be shown: {trouble_in(error)}")
        if not accuracy >= gate.threshold:
            details = (
                f"dev accuracy {accuracy:.3f}, a correct model reaches {gate.threshold:.3f}",
            )
            raise CheckFailed(Finding("the fine-tuned model is not good enough", details))
        return f"dev accuracy {accuracy:.3f}"

    def replies(self, gate: Gate, run: TaskRun) -> tuple[Reply, Tensors]:
        """Return the reply with the predictions that count, and what the fine-tune returned.

        Raises:
            CheckFailed: the submission returned no valid weights.
            SolutionError: the solution cannot predict.
        """
        why = own_predictions_because(run)
        if why or run.ask_solution is None:
            run.flag(f"the submission's own predictions count, because {why}")
            own = run.ask(gate.fine_tuning(None))
            return own, own.tensors
        room = room_for_weights(run.checkpoint)
        tuned = run.ask(gate.fine_tuning(room))
        weights = weights_of(tuned, room)
        reply = run.ask_solution(gate.predicting(weights))
        if reply.status != "ok":
            raise self.without_predictions(gate, run, weights)
        if not reply.tensors:
            raise CheckFailed(Finding("fine-tuning returned weights of other names or shapes"))
        return reply, tuned.tensors

    def without_predictions(self, gate: Gate, run: TaskRun, weights: Tensors) -> Exception:
        """Return whose fault it is that the solution could not predict with some weights.

        The weights', if it can with zeros in their place: then the machine and the solution work.
        """
        assert run.ask_solution is not None
        zeros = {name: np.zeros_like(value) for name, value in weights.items()}
        reply = run.ask_solution(gate.predicting(zeros))
        if reply.status != "ok":
            return SolutionError(f"the solution cannot predict: {reply.text}")
        return CheckFailed(
            Finding("no model can predict with the weights that fine-tuning returned")
        )
