"""The sentiment gate: what the submission is shown, and how long it may take.

The golden corpus has what blocks it, and tests/hostile fine-tunes with real processes.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from grader.assignment import ASSIGNMENT
from grader.sentiment import DEADLINE, ENTRY, GateTraining, Sentiment
from tensormark.grading import Grading
from tensormark.intake.submission import Submission
from tensormark.references import References
from tensormark.result import CheckFailed
from tensormark.sandbox.interface import Reply
from tensormark.sandbox.tiers import BY_NAME, CONTAINED, PROCESS
from tensormark.settings import Settings
from tensormark.task import TaskRun
from tests.helpers import ROOT

REFERENCES = References(ROOT / "reference_outputs")


def test_the_submission_is_not_shown_the_sentences_that_the_solution_predicts():
    requests = []
    trained = Reply("ok", tensors={"out/weights/bert.some.weight": np.ones((2, 3), np.float32)})

    def ask(request):
        requests.append(request)
        return trained

    run = TaskRun(REFERENCES, ROOT / "data", ASSIGNMENT.checkpoint, ask, lambda _: Reply("ok"))
    with pytest.raises(CheckFailed):
        Sentiment().grade(run)

    lists = [value for value in requests[0].call.values() if isinstance(value, list)]
    assert lists == [GateTraining(REFERENCES, ROOT / "data").train.texts]
    assert requests[0].tensors.keys() == {"labels"}


def test_a_folder_without_the_main_file_is_no_solution_that_predicts(tmp_path):
    task = ASSIGNMENT.exercise("sentiment")
    session = Grading(Settings.of(ROOT), ASSIGNMENT).session(Submission("", {}, {}), [task])
    session.assignment = SimpleNamespace(solution=tmp_path, main_file="bert.py")
    session.sandbox = SimpleNamespace(tier=BY_NAME[CONTAINED])

    assert session.task_run(task).ask_solution is None
    (tmp_path / "bert.py").touch()
    assert session.task_run(task).ask_solution


@pytest.mark.parametrize(("measured", "deadline"), [(2.0, 14.0), (None, DEADLINE)])
def test_a_trainings_deadline_is_a_multiple_of_its_measured_time(measured, deadline):
    recorded = []

    class RecordingSandbox:
        tier = BY_NAME[PROCESS]

        def run(self, requests, progress):
            recorded.extend(requests)
            yield Reply("lost", "was not run")

    grading = Grading(Settings.of(ROOT, training_times=7.0), ASSIGNMENT)
    grading.references.manifest[ENTRY].pop("seconds", None)
    grading.references.manifest[ENTRY] |= {} if measured is None else {"seconds": measured}
    task = [ASSIGNMENT.exercise("sentiment")]

    grading.session(Submission("bert.py", {}, {}), task).run(RecordingSandbox())

    assert [(request.deadline, request.task) for request in recorded] == [(deadline, True)]


def test_the_recorded_threshold_comes_with_the_time_of_its_runs():
    entry = REFERENCES.manifest[ENTRY]

    assert 0.5 < entry["threshold"] < 1
    assert 1 < entry["seconds"] < DEADLINE / 10
