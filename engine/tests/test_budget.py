"""What one submission may cost: two calls that hang, and five minutes."""

import dataclasses
import time
from pathlib import Path

import pytest

import toy
from asking import X, ask, program_with
from graded import Grade
from tensormark.exercise import Assignment
from tensormark.grading import Grading
from tensormark.sandbox.interface import (
    BUDGET,
    CALL_DEADLINE,
    HANGS,
    PROCESS,
    TIERS,
    Limits,
    Sandbox,
)
from tensormark.sandbox.tiers import open_sandbox
from tensormark.settings import Settings
from tiers import marked

IN_EACH_TIER = pytest.mark.parametrize("tier", marked(TIERS))
SLOW = """

import time


def slow(*_, **__):
    time.sleep({in_calls})


time.sleep(2.5)
Convolution.forward = Detector.forward = slow
"""
STILL = 20.0  # seconds for which a busy machine may stand still


def open_with(tier: str, budget: float) -> Sandbox:
    return open_sandbox(tier, dataclasses.replace(program_with(), budget=budget))


@IN_EACH_TIER
def test_after_two_calls_that_hang_nothing_more_is_run(tier: str) -> None:
    with open_with(tier, BUDGET) as sandbox:
        hangs = [ask("hang", name, deadline=1.0) for name in ("one", "two")]
        task = dataclasses.replace(ask("double", "four"), task=True)

        replies = list(sandbox.run([*hangs, ask("double", "three"), task]))

    reason = "not run: " + ", and ".join(["Thing.hang took longer than 1 seconds"] * 2)
    assert [reply.text for reply in replies[2:]] == [reason, reason]
    assert {reply.status for reply in replies} == {"lost"}


@IN_EACH_TIER
def test_calls_after_one_that_hangs_and_one_that_crashes_are_still_run(tier: str) -> None:
    with open_with(tier, BUDGET) as sandbox:
        calls = [ask("hang", "one", deadline=1.0), ask("end", "two"), ask("double", "three")]

        replies = list(sandbox.run(calls))

    assert [reply.status for reply in replies] == ["lost", "lost", "ok"]


@IN_EACH_TIER
def test_a_submission_that_has_used_up_its_seconds_is_not_run_any_further(tier: str) -> None:
    with open_with(tier, 4.0) as sandbox:
        start = time.monotonic()
        replies = list(sandbox.run([ask("hang", "one"), ask("double", "two")]))

    assert 3 < time.monotonic() - start < 4 + STILL
    assert [reply.status for reply in replies] == ["lost", "lost"]
    assert replies[1].text == "not run: the submission used up its 4 seconds"


def test_a_call_that_was_begun_before_the_budget_ended_is_not_taken_for_a_later_one() -> None:
    with open_with(PROCESS, BUDGET) as sandbox:
        task = dataclasses.replace(ask("mark", "three"), task=True)
        running = sandbox.run([ask("double"), ask("mark", "two"), task])

        first = next(running)
        sandbox.budget.remaining = 0.0
        replies = [first, *running]

    assert [reply.status for reply in replies] == ["ok", "lost", "ok"]
    assert replies[2].tensors["out/output"].tolist() == X.tolist()  # of a new worker's first mark


@IN_EACH_TIER
def test_the_time_of_a_task_does_not_count_as_the_submissions(tier: str) -> None:
    with open_with(tier, 0.001) as sandbox:
        task = dataclasses.replace(ask("double", "one"), task=True)

        replies = list(sandbox.run([task, task]))

    assert [reply.status for reply in replies] == ["ok", "ok"]


def worst_case(limits: Limits) -> float:
    """Return the seconds that hanging can cost: the formula of engine/docs/isolation.md."""
    call = min(limits.call_seconds, CALL_DEADLINE)
    return HANGS * (limits.load_seconds + max(limits.exercise_seconds, call))


@pytest.mark.tier("contained")
@pytest.mark.parametrize("in_calls", [1000, 0.8], ids=["calls", "exercises"])
def test_a_submission_that_hangs_wherever_it_can_costs_no_more_than_the_formula_says(
    assignment: Assignment, solution_source: str, tmp_path: Path, in_calls: float
) -> None:
    limits = Limits(load_seconds=5.0, call_seconds=1.0, exercise_seconds=2.0)
    path = tmp_path / toy.MAIN
    path.write_text(solution_source + SLOW.format(in_calls=in_calls), encoding="utf-8")
    settings = Settings.of(assignment.folder, tier="contained", limits=limits)
    with open_sandbox("contained", program_with()) as warm:
        list(warm.run([ask("double")]))

    start = time.monotonic()
    grade = Grading(settings, assignment).grade(str(path))
    elapsed = time.monotonic() - start

    assert elapsed < worst_case(limits) + STILL
    assert grade.score == 0
    assert all(result.findings or result.note for result in grade.results)


def test_thirty_hanging_submissions_of_three_hundred_cost_less_than_ninety_minutes() -> None:
    assert 30 * worst_case(Limits()) < 90 * 60


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "ten"])
@pytest.mark.parametrize("option", ["--budget", "--training-times"])
def test_an_invalid_budget_is_an_error(grade: Grade, option: str, text: str) -> None:
    graded = grade("solution", f"{option}={text}")

    assert graded.status == 2
    assert f"{option} {text}: must be a number" in graded.errors
