"""The deadline of the fine-tune is a multiple of its measured time."""

from collections.abc import Iterator

import pytest

from grader.assignment import ASSIGNMENT
from grader.sentiment import DEADLINE, ENTRY
from tensormark.intake.submission import Submission
from tensormark.observer import Observer
from tensormark.references import References
from tensormark.sandbox.interface import Reply, Request
from tensormark.session import GradingSession
from tensormark.settings import Settings

from conftest import ROOT


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

    references = References(ASSIGNMENT.references)
    references.manifest[ENTRY].pop("seconds", None)
    references.manifest[ENTRY] |= {} if measured is None else {"seconds": measured}
    session = GradingSession(
        ASSIGNMENT,
        [ASSIGNMENT.exercise("sentiment")],
        Submission("bert.py", {}, {}),
        Recording(),
        references,
        Settings.of(ROOT, training_times=7.0),
        Observer(),
    )

    session.run()

    assert [(request.deadline, request.task) for request in recorded] == [(deadline, True)]


def test_the_recorded_threshold_comes_with_the_time_of_its_runs() -> None:
    seconds = References(ASSIGNMENT.references).manifest[ENTRY]["seconds"]

    assert 1 < seconds < DEADLINE / 10
