"""A task that trains: whose predictions count, what is refused, and what is shown."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tensormark.references import ReferencesError
from tensormark.result import CheckFailed
from tensormark.sandbox.interface import Reply, Request
from tensormark.task import TaskRun
from tensormark.toolkit.training import (
    MAX_WEIGHTS,
    SolutionError,
    Training,
    TrainingTask,
    threshold_of,
)

LABELS = np.array([0, 1, 2, 1, 0, 2, 1, 1])
WEIGHTS = {"a": np.ones((2, 3), np.float32), "b": np.zeros(2, np.float32)}
ROOM = 1000  # bytes


class Labelled(Training):
    threshold = 0.7
    classes = ("low", "middle", "high")

    def __init__(self, room: int = ROOM) -> None:
        self.bytes = room

    @property
    def labels(self) -> np.ndarray:
        return LABELS

    def training(self, room: int | None) -> Request:
        call = {"kind": "train", "own": room is None}
        return Request("task", frozenset(), call, {}, reply_bytes=room or 0)

    def predicting(self, weights: dict[str, np.ndarray]) -> Request:
        named = {f"weights/{name}": value for name, value in weights.items()}
        return Request("task", frozenset(), {"kind": "predict"}, named)

    def room(self, run: TaskRun) -> int:
        return self.bytes


class Task(TrainingTask[Labelled]):
    entry = "task"

    def __init__(self, room: int = ROOM) -> None:
        self.room = room

    def training(self, run: TaskRun) -> Labelled:
        return Labelled(self.room)


Ask = Callable[[Request], Reply]


class Run:
    """A run of the task, with what it asked for, flagged and showed."""

    def __init__(
        self,
        submission: Ask,
        solution: Ask | None,
        wrong: tuple[str, ...] = (),
        doubtful: tuple[str, ...] = (),
        private: bool = False,
    ) -> None:
        self.requests: list[Request] = []
        self.flags: list[str] = []
        self.shown: dict[str, Any] = {}
        references: Any = SimpleNamespace(private=private, manifest={})

        def recording(answer: Ask) -> Ask:
            return lambda request: self.requests.append(request) or answer(request)

        self.task_run = TaskRun(
            references=references,
            data=Path(),
            checkpoint=None,
            ask=recording(submission),
            ask_solution=recording(solution) if solution else None,
            why_not="it is a test",
            wrong=wrong,
            doubtful=doubtful,
            flag=self.flags.append,
            show=self.shown.update,
        )


def answering(status: str = "ok", text: str = "", **tensors: np.ndarray) -> Ask:
    """Return a function that always gives this answer; in names, __ stands for a slash."""
    named = {name.replace("__", "/"): value for name, value in tensors.items()}
    return lambda request: Reply(status, text, tensors=named)


RIGHT = answering(out__predictions=LABELS)
TRAINED = answering(out__weights__a=WEIGHTS["a"], out__weights__b=WEIGHTS["b"])


# --- whose predictions count --------------------------------------------------------------------


def test_the_solution_predicts_with_the_weights_that_come_back() -> None:
    run = Run(TRAINED, RIGHT)

    assert Task().grade(run.task_run) == "accuracy 1.000"
    assert [request.call for request in run.requests] == [
        {"kind": "train", "own": False},
        {"kind": "predict"},
    ]
    assert run.requests[1].tensors.keys() == {"weights/a", "weights/b"}
    assert run.flags == []


@pytest.mark.parametrize(
    ("wrong", "solution", "room", "why"),
    [
        (("conv",), RIGHT, ROOM, "the values of conv are not right"),
        ((), None, ROOM, "it is a test"),
        ((), RIGHT, MAX_WEIGHTS + 1, "the model's weights are too large to be returned"),
    ],
)
def test_otherwise_the_submissions_own_predictions_count_and_a_flag_says_why(
    wrong: tuple[str, ...], solution: Ask | None, room: int, why: str
) -> None:
    run = Run(RIGHT, solution, wrong)

    assert Task(room).grade(run.task_run) == "accuracy 1.000"
    assert [request.call["own"] for request in run.requests] == [True]
    assert run.flags == [f"the submission's own predictions count, because {why}"]


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("submission", "message"),
    [
        (answering("error", "raised ValueError: no"), "training: raised ValueError: no"),
        (answering("not written", "conv"), "training: raised NotImplementedError: conv"),
        (answering(), "training returned no weights"),
        (answering(out__weights__a=np.ones(3)), "training returned no weights"),
        (answering(out__weights__a=np.full(3, np.nan, np.float32)), "weights that are NaN or inf"),
        (answering(out__weights__a=np.ones(ROOM, np.float32)), "more weights than the model has"),
    ],
)
def test_an_answer_without_usable_weights_never_reaches_the_solution(
    submission: Ask, message: str
) -> None:
    run = Run(submission, RIGHT)

    with pytest.raises(CheckFailed, match=message):
        Task().grade(run.task_run)
    assert len(run.requests) == 1


def only_zeros(request: Request) -> Reply:
    broken = any(value.any() for value in request.tensors.values())
    return Reply("lost", "it died") if broken else RIGHT(request)


def predicting(predictions: np.ndarray) -> Ask:
    return answering(out__predictions=predictions)


@pytest.mark.parametrize(
    ("solution", "fault", "message"),
    [
        (answering(), CheckFailed, "weights with the wrong names or shapes"),
        (answering("lost", "it died"), SolutionError, "the solution cannot predict: it died"),
        (only_zeros, CheckFailed, "no model can predict with the weights"),
        (predicting(LABELS[:3]), CheckFailed, "returned the wrong number of predictions"),
        (predicting(LABELS.astype(np.float64)), CheckFailed, "returned no predictions"),
        (predicting(np.zeros(8, np.int64)), CheckFailed, "the trained model is not good enough"),
    ],
)
def test_weights_that_the_solution_cannot_predict_well_with_are_refused(
    solution: Ask, fault: type[Exception], message: str
) -> None:
    with pytest.raises(fault, match=message):
        Task().grade(Run(TRAINED, solution).task_run)


def test_a_model_that_is_not_good_enough_names_the_wrong_functions_that_it_was_trained_with() -> (
    None
):
    run = Run(answering(out__predictions=np.zeros(8, np.int64)), RIGHT, ("conv", "norm"))

    with pytest.raises(CheckFailed) as failed:
        Task().grade(run.task_run)
    assert failed.value.finding.details[-1] == "it was trained with your conv and norm"


def test_a_flag_names_right_functions_that_nothing_can_be_trained_through() -> None:
    run = Run(TRAINED, RIGHT, doubtful=("conv",))

    Task().grade(run.task_run)

    assert run.flags == ["its weights may not come from the training, as conv did not pass"]


# --- what is shown ------------------------------------------------------------------------------


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("solution", [RIGHT, None], ids=["solution predicts", "it predicts"])
def test_classes_and_curves_are_shown_but_nothing_of_private_examples(
    solution: Ask | None, private: bool
) -> None:
    losses = np.linspace(1.0, 0.1, 20, dtype=np.float32)
    submission = answering(
        out__weights__a=WEIGHTS["a"], out__losses=losses, out__predictions=LABELS
    )
    run = Run(submission, solution, private=private)

    Task().grade(run.task_run)

    assert run.shown["classes"] == ([] if private else ["low", "middle", "high"])
    assert run.shown["confusion"] == ([] if private else [[2, 0, 0], [0, 4, 0], [0, 0, 2]])
    # losses of a process that has seen the examples could say what they are
    curves = [] if private and solution is None else ["training loss"]
    assert [curve["name"] for curve in run.shown["curves"]] == curves


# --- thresholds that were measured --------------------------------------------------------------


def test_the_manifest_has_a_threshold_with_its_time_or_says_why_not() -> None:
    measured, sentence, missing = (
        SimpleNamespace(folder=Path("references"), manifest=manifest)
        for manifest in ({"task": {"threshold": 0.8, "seconds": 3.5}}, {"task": "not measured"}, {})
    )

    assert threshold_of(measured, "task")["threshold"] == 0.8
    assert Task().seconds(measured) == 3.5
    assert Task().left_out(measured) is None
    assert Task().left_out(sentence) == "not measured"
    with pytest.raises(ReferencesError, match="json says: not measured"):
        threshold_of(sentence, "task")
    with pytest.raises(ReferencesError, match="has no task threshold; run `make gate`"):
        threshold_of(missing, "task", "make gate")
