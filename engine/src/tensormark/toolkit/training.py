"""A task that trains a model, and is judged by what the model has learned, not by what it claims.

If the values of all upstream exercises are right, the submission gets the training data and returns
the weights. With these, correct code predicts examples that the training has not seen: the
solution's, in a separate process, or the submission's where that is impossible. Labels and the
threshold stay with the grader.

Covered: where the solution predicts, the predictions are those of its model with the submission's
weights. Not covered: how the weights came about.

An assignment has a `Training` that makes the requests, a `TrainingTask` that creates one for each
grading, and two kinds of calls in its harness. One trains, and answers with out/weights/. The other
predicts from weights, and answers with out/predictions, or with no tensors if the weights' names or
shapes are not the model's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.references import References, ReferencesError, under
from tensormark.result import CheckFailed, Finding
from tensormark.sandbox.interface import Reply, Request
from tensormark.task import Task, TaskRun
from tensormark.usage import command, trouble_in

ROOM = 1 << 20  # bytes for the weights of a small model
MAX_WEIGHTS = 200 << 20  # bytes; the grader holds several copies of an answer
# limits of what reports show
MAX_POINTS = 100  # of a curve, at most
MAX_MISREAD = 10  # how many examples are listed
MAX_LENGTH = 300  # characters of an example
MAX_STEPS = 1_000_000  # of a loss curve

Tensors = dict[str, np.ndarray]


class SolutionError(Exception):
    """The solution does not work, which is not the submission's fault."""


def threshold_of(references: References, entry: str, fix: str = "") -> Mapping[str, Any]:
    """Return the manifest's entry on a measured threshold.

    Args:
        entry: the entry's name; the entry is an object with `threshold`, `seed` and perhaps
            `seconds`, or a sentence that says why there is none; see `Staff.measured`.
        fix: the command that measures the threshold.

    Raises:
        ReferencesError: the manifest has no threshold.
    """
    measured = references.manifest.get(entry)
    if isinstance(measured, str):
        raise ReferencesError(f"{references.path} says: {measured}")
    if not isinstance(measured, dict):
        fix = fix or command("references")
        raise ReferencesError(f"{references.path} has no {entry} threshold; run `{fix}`")
    return measured


# --- what reports show ----------------------------------------------------------------------------


def _smooth(values: np.ndarray) -> list[float | None]:
    """Return a curve of at most MAX_POINTS points: means of neighbours."""
    parts = np.array_split(values.astype(np.float64), min(MAX_POINTS, len(values)))
    means = [float(part.mean()) for part in parts]
    return [float(f"{mean:.5g}") if np.isfinite(mean) else None for mean in means]


def loss_curve(tensors: Tensors) -> list[dict[str, Any]]:
    """Return the curve of out/losses, or no curve if they are invalid.

    The submission's own process reports the loss of each step, so it is only plotted.
    """
    losses = tensors.get("out/losses")
    if losses is None or losses.dtype != np.float32 or losses.ndim != 1:
        return []
    if not 1 < losses.size <= MAX_STEPS:
        return []
    return [
        {
            "name": "training loss",
            "steps": losses.size,
            "unit": "step",
            "values": _smooth(losses),
            "threshold": None,
        }
    ]


def confusion(
    labels: np.ndarray,
    predictions: np.ndarray,
    texts: Sequence[str] = (),
    classes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the confusion table and the first misclassified examples.

    Args:
        texts: the examples' texts; without them no examples are listed.
        classes: the names of the classes; numbers are shown instead if there are more or fewer.
    """
    count = int(labels.max()) + 1
    names = list(classes) if count == len(classes) else [str(label) for label in range(count)]
    valid = (predictions >= 0) & (predictions < count)  # untrusted
    table = np.zeros((count, count), dtype=np.int64)
    np.add.at(table, (labels[valid], predictions[valid]), 1)
    wrong = np.flatnonzero(valid & (predictions != labels)).tolist()
    listed = wrong[:MAX_MISREAD] if texts else []
    misread = [
        {"text": texts[i][:MAX_LENGTH], "expected": names[labels[i]], "got": names[predictions[i]]}
        for i in listed
    ]
    return {"classes": names, "confusion": table.tolist(), "misread": misread}


# --- the training ---------------------------------------------------------------------------------


class Training:
    """One grading: the requests, the labels and the threshold.

    Attributes:
        what, model, measure, weights: words for messages.
        classes: the names of the classes, for reports.
        threshold: the least sufficient accuracy.
    """

    what = "training"
    model = "the trained model"
    measure = "accuracy"
    weights = "the model's weights"
    classes: tuple[str, ...] = ()
    threshold: float

    # --- defined by each assignment ---------------------------------------------------------------

    @property
    def labels(self) -> np.ndarray:
        """The class of each example to predict, (N,) int64; never sent."""
        raise NotImplementedError

    def training(self, room: int) -> Request:
        """Return the request to train, which says nothing about the examples to predict.

        Args:
            room: bytes for the weights to return.
        """
        raise NotImplementedError

    def predicting(self, weights: Tensors) -> Request:
        """Return the request to predict with weights, which are sent as weights/<parameter>."""
        raise NotImplementedError

    def room(self, run: TaskRun) -> int:
        """Return the maximum size of the weights in bytes."""
        return ROOM

    def texts(self) -> list[str]:
        """Return the examples to predict, for reports; empty if they are not texts."""
        return []

    # --- judging ----------------------------------------------------------------------------------

    def grade(self, run: TaskRun) -> str:
        """Train, and compare the accuracy with the threshold; return the accuracy in words.

        Raises:
            CheckFailed: the model is not good enough, or there is no valid answer.
        """
        predictions, trained = self.predictions(run)
        accuracy = float((predictions == self.labels).mean())
        private = run.references.private
        try:
            run.measured.update(self._measured(accuracy, predictions, trained, private))
        except Exception as error:  # the report does not affect the score
            run.flags.append(f"its answer cannot be shown: {trouble_in(error)}")
        reached = f"{self.measure} {accuracy:.3f}"
        if not accuracy >= self.threshold:  # true for NaN
            lines = (f"{reached}, {self.threshold:.3f} is needed",)
            raise CheckFailed(Finding(f"{self.model} is not good enough", lines))
        if run.doubtful:  # with right values and no gradients, weights may have been brought along
            names = ", ".join(run.doubtful)
            run.flags.append(f"its weights may not come from the training, as {names} did not pass")
        return reached

    def predictions(self, run: TaskRun) -> tuple[np.ndarray, Tensors]:
        """Return the predictions that count, (N,), and the training's tensors.

        Raises:
            CheckFailed: the submission returned no valid weights, or no valid predictions.
            ReferencesError: the model is too large. SolutionError: the solution cannot predict.
        """
        room = self.room(run)
        if room > MAX_WEIGHTS:
            raise ReferencesError(f"{self.weights} are too large to be returned")
        trained = run.ask(self.training(room))
        weights = self._returned_weights(trained, room)
        answer = self._predicted(run, weights)
        if not answer:
            raise self._refused("returned weights with the wrong names or shapes")
        predictions = answer.get("out/predictions")
        if predictions is None or predictions.dtype != np.int64:
            raise self._refused("returned no predictions")
        if predictions.shape != self.labels.shape:
            raise self._refused("returned the wrong number of predictions")
        return predictions, trained.tensors

    def _refused(self, why: str) -> CheckFailed:
        return CheckFailed(Finding(f"{self.what} {why}"))

    def _predicted(self, run: TaskRun, weights: Tensors) -> Tensors:
        """Return the tensors that the solution, or else the submission, answers with.

        Raises:
            CheckFailed: the weights are at fault, or the submission.
            SolutionError: the solution cannot predict with any weights.
        """
        request = self.predicting(weights)
        if run.ask_solution is None:
            return self._finished(run.ask(request))
        reply = run.ask_solution(request)
        if reply.status == "ok":
            return reply.tensors
        # the weights are at fault if it can predict with zeros in their place
        zeros = {name: np.zeros_like(value) for name, value in weights.items()}
        again = run.ask_solution(self.predicting(zeros))
        if again.status != "ok":
            raise SolutionError(f"the solution cannot predict: {again.text}")
        what = f"no model can predict with the weights that {self.what} returned"
        raise CheckFailed(Finding(what))

    def _finished(self, reply: Reply) -> Tensors:
        """Return the tensors that the submission answers with.

        Raises:
            CheckFailed: it failed.
        """
        if reply.status == "ok":
            return reply.tensors
        raise CheckFailed(Finding(f"{self.what}: {reply.fault}"))

    def _returned_weights(self, reply: Reply, room: int) -> Tensors:
        """Return the weights that training returned, without checking their names and shapes.

        Args:
            room: their maximum size in bytes.
        """
        weights = under(self._finished(reply), "out/weights/")
        if not weights or any(value.dtype != np.float32 for value in weights.values()):
            raise self._refused("returned no weights")
        if sum(value.nbytes for value in weights.values()) > room:
            raise self._refused("returned more weights than the model has")
        if not all(np.isfinite(value).all() for value in weights.values()):
            raise self._refused("returned weights that are NaN or inf")
        return weights

    def _measured(
        self, accuracy: float, predictions: np.ndarray, trained: Tensors, private: bool
    ) -> dict[str, Any]:
        """Return what reports show; nothing about single examples if these are private.

        Args:
            trained: the tensors that the training returned and that may be shown.
        """
        shown = {"name": self.measure, "value": accuracy, "threshold": self.threshold}
        curves = loss_curve(trained)
        if private:
            return {**shown, "curves": curves, "classes": [], "confusion": [], "misread": []}
        table = confusion(self.labels, predictions, self.texts(), self.classes)
        return {**shown, "curves": curves, **table}


class TrainingTask(Task):
    """A task whose trained model must reach the threshold.

    Attributes:
        entry: the name of the manifest's entry with the threshold; see `threshold_of`.
    """

    entry = ""

    def training(self, run: TaskRun) -> Training:
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
        """Return how long the runs that measured the threshold took."""
        entry = references.manifest.get(self.entry)
        seconds: float | None = entry.get("seconds") if isinstance(entry, dict) else None
        return seconds

    def grade(self, run: TaskRun) -> str:
        """Grade one training; see `Training.grade`."""
        return self.training(run).grade(run)
