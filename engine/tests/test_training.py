"""A task that trains: who predicts, what is refused, and what is shown."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tensormark.references import ReferencesError
from tensormark.result import CheckFailed
from tensormark.sandbox.interface import Reply, Request
from tensormark.task import TaskRun
from tensormark.toolkit import training
from tensormark.toolkit.training import SolutionError, Training, TrainingTask, threshold_of

LABELS = np.array([0, 1, 2, 1, 0, 2, 1, 1])
WEIGHTS = {"a": np.ones((2, 3), np.float32), "b": np.zeros(2, np.float32)}
ROOM = 1000  # bytes


class Labelled(Training):
    threshold = 0.7
    classes = ("low", "middle", "high")

    @property
    def labels(self):
        return LABELS

    def training(self, room):
        return Request("task", frozenset(), {"kind": "train"}, {}, reply_bytes=room)

    def predicting(self, weights):
        named = {f"weights/{name}": value for name, value in weights.items()}
        return Request("task", frozenset(), {"kind": "predict"}, named)

    def room(self, run):
        return ROOM


class ToyTask(TrainingTask):
    entry = "task"

    def training(self, run):
        return Labelled()


def answering(status="ok", text="", **tensors):
    """Return a function that always gives this answer; in names, __ stands for a slash."""
    named = {name.replace("__", "/"): value for name, value in tensors.items()}
    return lambda request: Reply(status, text, tensors=named)


RIGHT = answering(out__predictions=LABELS)
TRAINED = answering(out__weights__a=WEIGHTS["a"], out__weights__b=WEIGHTS["b"])


class GradedTask:
    """What a grading of the task asked for, said, flagged and showed."""

    def __init__(self, submission, solution=RIGHT, private=False, **options):
        self.requests = []
        references = SimpleNamespace(private=private, manifest={})

        def recorded(answer):
            return lambda request: self.requests.append(request) or answer(request)

        run = TaskRun(
            references=references,
            data=Path(),
            checkpoint=None,
            ask=recorded(submission),
            ask_solution=recorded(solution) if solution else None,
            **options,
        )
        self.says = ToyTask().grade(run)
        self.flags = run.flags
        self.shown = run.measured


# --- who predicts -------------------------------------------------------------------------------


def test_the_solution_predicts_with_the_weights_that_come_back():
    graded = GradedTask(TRAINED)

    assert (graded.says, graded.flags) == ("accuracy 1.000", [])
    assert [request.call for request in graded.requests] == [{"kind": "train"}, {"kind": "predict"}]
    assert graded.requests[1].tensors.keys() == {"weights/a", "weights/b"}


def test_without_a_solution_the_submission_predicts_with_the_weights_that_came_back():
    def submission(request):
        return TRAINED(request) if request.call["kind"] == "train" else RIGHT(request)

    graded = GradedTask(submission, None)

    assert (graded.says, graded.flags) == ("accuracy 1.000", [])
    assert graded.requests[1].tensors.keys() == {"weights/a", "weights/b"}


def test_weights_too_large_to_be_returned_are_not_the_submissions_fault(monkeypatch):
    monkeypatch.setattr(training, "MAX_WEIGHTS", ROOM - 1)

    with pytest.raises(ReferencesError, match="the model's weights are too large to be returned"):
        GradedTask(TRAINED)


def test_a_flag_names_right_functions_that_nothing_can_be_trained_through():
    flag = "its weights may not come from the training, as conv did not pass"

    assert GradedTask(TRAINED, doubtful=("conv",)).flags == [flag]


# --- what is refused ----------------------------------------------------------------------------


def never(request):
    raise AssertionError("it was asked to predict")


def only_zeros(request):
    broken = any(value.any() for value in request.tensors.values())
    return Reply("lost", "it died") if broken else RIGHT(request)


def predicting(predictions):
    return answering(out__predictions=predictions)


@pytest.mark.parametrize(
    ("submission", "solution", "message"),
    [
        (answering("error", "raised ValueError: no"), never, "training: raised ValueError: no"),
        (answering("not written", "conv"), never, "training: raised NotImplementedError: conv"),
        (answering(), never, "training returned no weights"),
        (answering(out__weights__a=np.ones(3)), never, "training returned no weights"),
        (answering(out__weights__a=np.full(3, np.nan, "f4")), never, "weights that are NaN or inf"),
        (answering(out__weights__a=np.ones(ROOM, "f4")), never, "more weights than the model has"),
        (TRAINED, answering(), "weights with the wrong names or shapes"),
        (TRAINED, only_zeros, "no model can predict with the weights"),
        (TRAINED, predicting(LABELS[:3]), "returned the wrong number of predictions"),
        (TRAINED, predicting(LABELS.astype(np.float64)), "returned no predictions"),
        (TRAINED, predicting(np.zeros(8, np.int64)), "the trained model is not good enough"),
    ],
)
def test_what_cannot_be_graded_or_is_not_good_enough_is_refused(submission, solution, message):
    with pytest.raises(CheckFailed, match=message):
        GradedTask(submission, solution)


def test_a_solution_that_cannot_predict_is_not_the_submissions_fault():
    with pytest.raises(SolutionError, match="the solution cannot predict: it died"):
        GradedTask(TRAINED, answering("lost", "it died"))


def test_a_submission_that_cannot_predict_with_its_weights_is_refused():
    def submission(request):
        train = request.call["kind"] == "train"
        return TRAINED(request) if train else Reply("error", "raised ValueError: no")

    with pytest.raises(CheckFailed, match="training: raised ValueError: no"):
        GradedTask(submission, None)


# --- what is shown ------------------------------------------------------------------------------


@pytest.mark.parametrize("private", [False, True])
def test_classes_and_curves_are_shown_but_nothing_of_private_examples(private):
    losses = np.linspace(1.0, 0.1, 20, dtype=np.float32)
    submission = answering(out__weights__a=WEIGHTS["a"], out__losses=losses)

    shown = GradedTask(submission, private=private).shown

    assert shown["classes"] == ([] if private else ["low", "middle", "high"])
    assert shown["confusion"] == ([] if private else [[2, 0, 0], [0, 4, 0], [0, 0, 2]])
    assert [curve["name"] for curve in shown["curves"]] == ["training loss"]


# --- thresholds that were measured --------------------------------------------------------------


def test_the_manifest_has_a_threshold_with_its_time_or_says_why_not():
    measured, sentence, missing = (
        SimpleNamespace(path=Path("manifest.json"), manifest=manifest)
        for manifest in ({"task": {"threshold": 0.8, "seconds": 3.5}}, {"task": "not measured"}, {})
    )

    assert threshold_of(measured, "task")["threshold"] == 0.8
    assert ToyTask().seconds(measured) == 3.5
    assert ToyTask().left_out(measured) is None
    assert ToyTask().left_out(sentence) == "not measured"
    with pytest.raises(ReferencesError, match="json says: not measured"):
        threshold_of(sentence, "task")
    with pytest.raises(ReferencesError, match="has no task threshold; run `make gate`"):
        threshold_of(missing, "task", "make gate")
