"""How long tasks may take on Gradescope."""

import dataclasses
import json
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.exercise import Assignment
from tensormark.gradescope import run
from tensormark.references import FORMAT, References
from tensormark.settings import Settings
from tensormark.task import Task
from tests.helpers import ROOT


class Timed(Task):
    """A task with the time that a right solution takes, or None if that is not known."""

    def __init__(self, seconds: float | None) -> None:
        self.taken = seconds

    def seconds(self, references: References) -> float | None:
        return self.taken


def with_tasks(folder: Path, *seconds: float | None) -> Assignment:
    """Return an assignment with a task for each of `seconds`, laid out as in Gradescope's zip."""
    manifest = {"format": FORMAT, "files": {}, "exercises": {}, "checkpoint": {}}
    (folder / run.REFERENCES).mkdir()
    path = folder / run.REFERENCES / "manifest.json"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    exercise = ASSIGNMENT.exercise("sentiment")
    tasks = [
        dataclasses.replace(exercise, id=f"task_{number}", task=Timed(taken))
        for number, taken in enumerate(seconds)
    ]
    return dataclasses.replace(ASSIGNMENT, folder=folder, exercises=tuple(tasks))


@pytest.mark.parametrize("seconds", [(20,), (5, 15)])
def test_the_time_for_a_submission_fits_into_the_limit(tmp_path: Path, seconds) -> None:
    settings = run.settings_for(with_tasks(tmp_path, *seconds), 600)

    training = settings.training_times * sum(seconds)
    assert training > 5 * 20
    assert settings.budget + settings.limits.load_seconds + training < 600 - 60


def test_a_task_that_was_not_measured_keeps_its_deadline(tmp_path: Path) -> None:
    assignment = with_tasks(tmp_path, None)

    settings = run.settings_for(assignment, 600)

    assert settings.training_times == Settings.of(ROOT).training_times
