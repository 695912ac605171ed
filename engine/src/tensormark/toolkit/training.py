"""A task that trains a model, and is judged by what it has learned and not by what it says.

Where the values of all upstream exercises are right, the submission gets what to train on and
returns the weights, and a model of the solution's code, in a process of its own, predicts other
examples from them. The submission never sees these. Otherwise it gets them, without labels, and its
own predictions count, which the result flags. Labels and the threshold stay with the grader.

Covered: predictions that were not made by the model with the submission's weights; private examples
that a submission has seen are in none of the numbers shown. Not covered: how the weights came
about.

An assignment has a `Training` that says what is asked of whom, a `TrainingTask` that makes one for
each grading, and two kinds of calls in its harness: one that trains and answers with out/weights/,
or with out/predictions, and one that predicts from weights and answers with nothing where their
names or shapes are not the model's.
"""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from tensormark.references import References, ReferencesError, under
from tensormark.result import CheckFailed, Finding
from tensormark.sandbox.interface import Reply, Request
from tensormark.task import Task, TaskRun
from tensormark.toolkit.measured import accuracy_curve, confusion, loss_curve
from tensormark.trouble import trouble_in
from tensormark.usage import command

MOST_WEIGHTS = 200 << 20  # bytes; a frame can carry a little more

Tensors = dict[str, np.ndarray]


class SolutionError(Exception):
    """The solution does not do what it should, which is not the submission's fault."""


def threshold_of(references: References, entry: str, fix: str = "") -> Mapping[str, Any]:
    """Return what the manifest says of a threshold that was measured.

    Args:
        entry: of the manifest: an object with `threshold`, `seed` and perhaps `seconds`, or a
            sentence that says why there is none; see `Staff.measured`.
        fix: the command that measures it.

    Raises:
        ReferencesError: there is none.
    """
    measured, path = references.manifest.get(entry), references.folder / "manifest.json"
    if isinstance(measured, str):
        raise ReferencesError(f"{path} says: {measured}")
    if not isinstance(measured, dict):
        fix = fix or command("references")
        raise ReferencesError(f"{path} has no {entry} threshold; run `{fix}`")
    return measured


class Training:
    """One grading: what is asked, what is right, and how much of it is enough.

    Attributes:
        what, model, measure, weights: words for messages.
        classes: the names of the classes, for reports.
        threshold: the least accuracy that is enough.
    """

    what = "training"
    model = "the trained model"
    measure = "accuracy"
    weights = "the model's weights"
    classes: tuple[str, ...] = ()

    threshold: float

    # --- what each assignment says ----------------------------------------------------------------

    @property
    def labels(self) -> np.ndarray:
        """The class of each example that is predicted, (N,) int64; they are never sent."""
        raise NotImplementedError

    def training(self, room: int | None) -> Request:
        """Return the request to train; it contains no label of what is predicted.

        Args:
            room: bytes for the weights, which are to be returned; None: predictions are.
        """
        raise NotImplementedError

    def predicting(self, weights: Tensors) -> Request:
        """Return the request to predict with weights, which are sent as weights/<parameter>."""
        raise NotImplementedError

    def room(self, run: TaskRun) -> int:
        """Return how many bytes the weights may have."""
        raise NotImplementedError

    def texts(self) -> list[str]:
        """Return the examples that are predicted, for reports; none: they are no texts."""
        return []

    # --- what is judged ---------------------------------------------------------------------------

    def predictions(self, reply: Reply) -> np.ndarray:
        """Return the predictions (N,).

        Raises:
            CheckFailed: training did not finish, or returned no valid predictions.
        """
        predictions = _finished(reply, self.what).get("out/predictions")
        if predictions is None or predictions.dtype != np.int64:
            raise CheckFailed(Finding(f"{self.what} returned no predictions"))
        if predictions.shape != self.labels.shape:
            raise CheckFailed(Finding(f"{self.what} returned the wrong number of predictions"))
        return predictions

    def accuracy(self, reply: Reply) -> float:
        """Return the share of examples that were predicted correctly.

        Raises:
            CheckFailed: training did not finish, or returned no valid predictions.
        """
        return float((self.predictions(reply) == self.labels).mean())

    def measured(self, reply: Reply, trained: Tensors, private: bool) -> dict[str, Any]:
        """Return what reports show; nothing about single examples if these are private.

        Args:
            reply: a valid one, with the predictions.
            trained: what the training returned and may be shown.
        """
        reached, predictions = self.accuracy(reply), self.predictions(reply)
        curves = loss_curve(trained)
        shown = {"name": self.measure, "value": reached, "threshold": self.threshold}
        if private:
            return {**shown, "curves": curves, "classes": [], "confusion": [], "misread": []}
        curves = (
            accuracy_curve(trained, reached, self.labels, self.threshold, self.measure) + curves
        )
        table = confusion(self.labels, predictions, self.texts(), self.classes)
        return {**shown, "curves": curves} | table


def _finished(reply: Reply, what: str) -> Tensors:
    """Return what a training returned.

    Args:
        what: the training, in messages.

    Raises:
        CheckFailed: it did not finish.
    """
    if reply.status == "not written":  # all exercises are written, or it would not run
        raise CheckFailed(Finding(f"{what}: raised NotImplementedError: {reply.text}"))
    if reply.status != "ok":
        raise CheckFailed(Finding(f"{what}: {reply.text}"))
    return reply.tensors


def _weights_of(reply: Reply, room: int, what: str) -> Tensors:
    """Return the weights that a training returned; their names and shapes are not known here.

    Args:
        room: bytes that they may have.
        what: the training, in messages.

    Raises:
        CheckFailed: it did not finish, or returned something else.
    """
    weights = under(_finished(reply, what), "out/weights/")
    if not weights or any(value.dtype != np.float32 for value in weights.values()):
        raise CheckFailed(Finding(f"{what} returned no weights"))
    if sum(value.nbytes for value in weights.values()) > room:
        raise CheckFailed(Finding(f"{what} returned more weights than the model has"))
    if not all(np.isfinite(value).all() for value in weights.values()):
        raise CheckFailed(Finding(f"{what} returned weights that are NaN or inf"))
    return weights


TrainingT = TypeVar("TrainingT", bound=Training)


class TrainingTask(Task, Generic[TrainingT]):
    """A task whose trained model must reach the threshold.

    Attributes:
        entry: of the manifest, with a threshold that was measured; see `threshold_of`.
    """

    entry = ""

    def training(self, run: TaskRun) -> TrainingT:
        """Prepare one grading.

        Raises:
            ReferencesError: data or threshold cannot be used.
        """
        raise NotImplementedError

    def left_out(self, references: References) -> str | None:
        """Return the manifest's reason if it has no threshold."""
        entry = references.manifest.get(self.entry)
        return entry if isinstance(entry, str) else None

    def seconds(self, references: References) -> float | None:
        """Return how long the runs took that the threshold comes from."""
        entry = references.manifest.get(self.entry)
        seconds: float | None = entry.get("seconds") if isinstance(entry, dict) else None
        return seconds

    def grade(self, run: TaskRun) -> str:
        """Have it train, and compare the accuracy with the threshold; return it in words.

        Raises:
            CheckFailed: the model is not good enough, or there is no valid answer.
            ReferencesError: data or threshold cannot be used.
        """
        training = self.training(run)
        reply, shown = self.replies(training, run)
        if run.references.private and reply.tensors is shown:
            shown = {}  # it has seen the examples, and its losses could say what they are
        accuracy = training.accuracy(reply)
        try:
            run.show(training.measured(reply, shown, run.references.private))
        except Exception as error:  # what is only shown decides nothing
            run.flag(f"its answer cannot be shown: {trouble_in(error)}")
        reached = f"{training.measure} {accuracy:.3f}"
        if not accuracy >= training.threshold:
            enough = f"{training.threshold:.3f} is needed"
            raise CheckFailed(
                Finding(f"{training.model} is not good enough", (f"{reached}, {enough}",))
            )
        return reached

    def replies(self, training: TrainingT, run: TaskRun) -> tuple[Reply, Tensors]:
        """Return the reply with the predictions that count, and what the training returned.

        Raises:
            CheckFailed: the submission returned no valid weights.
            SolutionError: the solution cannot predict.
        """
        why = self.own_predictions_because(training, run)
        if why or run.ask_solution is None:
            run.flag(f"the submission's own predictions count, because {why}")
            own = run.ask(training.training(None))
            return own, own.tensors
        room = training.room(run)
        trained = run.ask(training.training(room))
        weights = _weights_of(trained, room, training.what)
        reply = run.ask_solution(training.predicting(weights))
        if reply.status != "ok":
            raise self.without_predictions(training, run, weights)
        if not reply.tensors:
            what = f"{training.what} returned weights with the wrong names or shapes"
            raise CheckFailed(Finding(what))
        return reply, trained.tensors

    def own_predictions_because(self, training: TrainingT, run: TaskRun) -> str:
        """Say why a submission's own predictions count; nothing if they do not."""
        if run.wrong:
            return f"the values of {', '.join(run.wrong)} are not right"
        if run.ask_solution is None:
            return run.why_not
        if training.room(run) > MOST_WEIGHTS:
            return f"{training.weights} are too large to be returned"
        return ""

    def without_predictions(self, training: TrainingT, run: TaskRun, weights: Tensors) -> Exception:
        """Return whose fault it is that the solution could not predict with some weights.

        The weights', if it can with zeros in their place: then the machine and the solution work.
        """
        assert run.ask_solution is not None
        zeros = {name: np.zeros_like(value) for name, value in weights.items()}
        reply = run.ask_solution(training.predicting(zeros))
        if reply.status != "ok":
            return SolutionError(f"the solution cannot predict: {reply.text}")
        return CheckFailed(
            Finding(f"no model can predict with the weights that {training.what} returned")
        )
