"""The sentiment gate: predictions are scored, and missing predictions cost the points."""

import numpy as np
import pytest

from grader.assignment.sentiment import Gate
from grader.references import References
from grader.result import CheckFailed
from grader.sandbox.interface import Reply

from conftest import ROOT


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate(References(ROOT / "reference_outputs"), ROOT / "data")


def test_accuracy_is_the_share_of_right_predictions(gate: Gate) -> None:
    predictions = gate.dev.labels.copy()
    predictions[: len(predictions) // 4] += 1

    reply = Reply("ok", tensors={"out/predictions": predictions})

    assert gate.accuracy(reply) == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize(
    "reply",
    [
        Reply("not written", "encode"),  # raised in training only, by code that passed before
        Reply("error", "raised ValueError"),
        Reply("lost", "fine-tuning took longer than 600 seconds"),
        Reply("ok"),
        Reply("ok", tensors={"out/predictions": np.zeros(3, np.int64)}),
        Reply("ok", tensors={"out/predictions": np.zeros(3)}),
    ],
    ids=["not-written", "error", "lost", "none", "too-few", "other-type"],
)
def test_a_fine_tune_without_predictions_has_failed(gate: Gate, reply: Reply) -> None:
    with pytest.raises(CheckFailed):
        gate.accuracy(reply)
