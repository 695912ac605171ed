"""What one submission may cost: two calls that hang, five minutes, a multiple for the training."""

import dataclasses
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.assignment import MINBERT
from grader.assignment.sentiment import DEADLINE, ENTRY
from grader.grading import Grading
from grader.intake.submission import Submission
from grader.observer import Silent
from grader.references import References
from grader.sandbox.budget import HANGS
from grader.sandbox.interface import BUDGET, CALL_DEADLINE, Limits, Reply, Request, Sandbox
from grader.sandbox.tiers import open_sandbox
from grader.session import GradingSession
from grader.settings import REFERENCES, Settings

from asking import ask, program_with
from conftest import ROOT, Grade
from tiers import marked, own_tiers

TIERS = pytest.mark.parametrize("tier", marked(own_tiers()))
SLOW = """

import time


def slow(*_, **__):
    time.sleep({in_calls})


time.sleep({at_import})
"""
FUNCTIONS = (
    "BertSelfAttention.attention BertLayer.add_norm BertLayer.forward BertModel.embed".split()
)
STILL = 20.0  # seconds that a busy machine may stand still for


def open_with(tier: str, budget: float) -> Sandbox:
    return open_sandbox(tier, dataclasses.replace(program_with(), budget=budget))


@TIERS
def test_after_two_calls_that_hang_nothing_more_is_run(tier: str) -> None:
    with open_with(tier, BUDGET) as sandbox:
        hangs = [ask("hang", name, deadline=1.0) for name in ("one", "two")]
        task = dataclasses.replace(ask("double", "four"), task=True)

        replies = list(sandbox.run([*hangs, ask("double", "three"), task]))

    said = "not run: " + ", and ".join(["Thing.hang took longer than 1 seconds"] * 2)
    assert [reply.text for reply in replies[2:]] == [said, said]
    assert {reply.status for reply in replies} == {"lost"}


@TIERS
def test_a_call_that_hangs_and_one_that_crashes_leave_the_rest_to_be_run(tier: str) -> None:
    with open_with(tier, BUDGET) as sandbox:
        calls = [ask("hang", "one", deadline=1.0), ask("end", "two"), ask("double", "three")]

        replies = list(sandbox.run(calls))

    assert [reply.status for reply in replies] == ["lost", "lost", "ok"]


@TIERS
def test_a_submission_that_has_used_up_its_seconds_is_not_run_on(tier: str) -> None:
    with open_with(tier, 4.0) as sandbox:
        started = time.monotonic()
        replies = list(sandbox.run([ask("hang", "one"), ask("double", "two")]))

    assert 3 < time.monotonic() - started < 4 + STILL
    assert [reply.status for reply in replies] == ["lost", "lost"]
    assert replies[1].text == "not run: the submission used up its 4 seconds"


@TIERS
def test_the_time_of_a_task_is_not_that_of_the_submission(tier: str) -> None:
    with open_with(tier, 0.001) as sandbox:
        task = dataclasses.replace(ask("double", "one"), task=True)

        replies = list(sandbox.run([task, task]))

    assert [reply.status for reply in replies] == ["ok", "ok"]


def slow_solution(folder: Path, at_import: float, in_calls: float) -> Path:
    """Write a solution that is slow wherever it runs."""
    for path in (ROOT / "solution").glob("*.py"):
        (folder / path.name).write_text(path.read_text("utf-8"), encoding="utf-8")
    slowed = "".join(f"{name} = slow\n" for name in FUNCTIONS)
    with (folder / "bert.py").open("a", encoding="utf-8") as file:
        file.write(SLOW.format(at_import=at_import, in_calls=in_calls) + slowed)
    return folder


def worst(limits: Limits) -> float:
    """Return the seconds that hanging can cost: the formula of SECURITY.md."""
    call = min(limits.call_seconds, CALL_DEADLINE)
    return HANGS * (limits.load_seconds + max(limits.exercise_seconds, call))


@pytest.mark.tier("contained")
@pytest.mark.parametrize("in_calls", [1000, 0.8], ids=["calls", "exercises"])
def test_a_submission_that_hangs_wherever_it_can_costs_what_the_formula_says(
    tmp_path: Path, in_calls: float
) -> None:
    small = Limits(load_seconds=5.0, call_seconds=1.0, exercise_seconds=2.0)
    path = slow_solution(tmp_path, 2.5, in_calls)
    with open_sandbox("contained", program_with()) as warm:
        list(warm.run([ask("double")]))

    started = time.monotonic()
    made = Grading(Settings(tier="contained", limits=small)).grade(str(path))
    taken = time.monotonic() - started

    assert taken < worst(small) + STILL
    assert made.score == 0
    assert all(result.findings or result.note for result in made.results)


def test_thirty_hanging_submissions_of_three_hundred_cost_less_than_ninety_minutes() -> None:
    assert 30 * worst(Limits()) < 90 * 60


# --- the training ------------------------------------------------------------------------------


@pytest.mark.parametrize(("measured", "deadline"), [(2.0, 14.0), (None, DEADLINE)])
def test_a_trainings_deadline_is_a_multiple_of_its_measured_time(
    measured: float | None, deadline: float
) -> None:
    asked = []

    class Recording:
        apart = None

        def run(self, requests: list[Request], progress: object) -> Iterator[Reply]:
            asked.extend(requests)
            yield Reply("lost", "was not run")

    references = References(REFERENCES)
    references.manifest[ENTRY].pop("seconds", None)
    references.manifest[ENTRY] |= {} if measured is None else {"seconds": measured}
    session = GradingSession(
        MINBERT,
        [MINBERT.exercise("sentiment")],
        Submission("bert.py", {}, {}),
        Recording(),
        references,
        Settings(training_times=7.0),
        Silent(),
    )

    session.run()

    assert [(request.deadline, request.task) for request in asked] == [(deadline, True)]


def test_the_recorded_threshold_comes_with_the_time_of_its_runs() -> None:
    seconds = References(REFERENCES).manifest[ENTRY]["seconds"]

    assert 1 < seconds < DEADLINE / 10


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "ten"])
@pytest.mark.parametrize("option", ["--budget", "--training-times"])
def test_a_budget_that_is_no_number_is_an_error(grade: Grade, option: str, text: str) -> None:
    graded = grade("solution", f"{option}={text}")

    assert graded.status == 2
    assert f"{option[2:].upper().replace('-', '_')}={text}: must be a number" in graded.errors


def test_the_help_names_the_budget_and_its_default() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grader", "--help"], cwd=ROOT, capture_output=True, text=True
    )

    assert "(default: 300.0)" in " ".join(done.stdout.split())
