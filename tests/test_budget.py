"""The deadline of the fine-tune is a multiple of its measured time."""

from collections.abc import Iterator

import pytest

from grader.assignment import ASSIGNMENT
from grader.sentiment import DEADLINE, ENTRY
from tensormark.grading import Grading, Session
from tensormark.intake.submission import Submission
from tensormark.references import References
from tensormark.sandbox.interface import Reply, Request
from tensormark.settings import Settings
from tests.helpers import ROOT


@pytest.mark.parametrize(("measured", "deadline"), [(2.0, 14.0), (None, DEADLINE)])
def test_a_trainings_deadline_is_a_multiple_of_its_measured_time(
    measured: float | None, deadline: float
) -> None:
    recorded = []

    class Recording:
        apart = together = None

        def run(self, requests: list[Request], progress: object) -> Iterator[Reply]:
            recorded.extend(requests)
            yield Reply("lost", "was not run")

    grading = Grading(Settings.of(ROOT, training_times=7.0), ASSIGNMENT)
    grading.references.manifest[ENTRY].pop("seconds", None)
    grading.references.manifest[ENTRY] |= {} if measured is None else {"seconds": measured}
    session = Session(grading, Submission("bert.py", {}, {}), [ASSIGNMENT.exercise("sentiment")])

    session.run(Recording())

    assert [(request.deadline, request.task) for request in recorded] == [(deadline, True)]


def test_the_recorded_threshold_comes_with_the_time_of_its_runs() -> None:
    seconds = References(ASSIGNMENT.references).manifest[ENTRY]["seconds"]

    assert 1 < seconds < DEADLINE / 10
