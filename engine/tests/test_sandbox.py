"""The tiers behind one interface: deadlines, partial answers, lost calls, what one may cost."""

import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from tensormark.grading import Grading
from tensormark.result import Outcome
from tensormark.sandbox import server, worker_process
from tensormark.sandbox.interface import CALL_DEADLINE, HANGS, Limits, WorkerStartError
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.server import SERVERS
from tensormark.sandbox.tiers import PROCESS, TIERS
from tensormark.settings import Settings
from testkit import toy
from testkit.asking import LIMITS, X, ask, program_with, sandbox_of
from testkit.tiers import marked

IN_EACH_TIER = pytest.mark.parametrize("tier", marked(TIERS))
STILL = 30.0  # seconds for which a busy machine may stand still


@pytest.fixture(params=marked(TIERS))
def sandbox(request):
    with sandbox_of(request.param) as opened:
        yield opened


def opened(tier, **more):
    return Sandbox(tier, dataclasses.replace(program_with(), **more))


def test_answers_before_a_crash_are_kept_and_other_exercises_run(sandbox):
    calls = [ask("double"), ask("end"), ask("double"), ask("double", "two")]

    replies = list(sandbox.run(calls))

    assert [reply.status for reply in replies] == ["ok", "lost", "lost", "ok"]
    assert "Thing.end ended the process that graded it" in replies[1].text
    np.testing.assert_array_equal(replies[3].tensors["out/output"], 2 * X)


def test_a_call_that_does_not_run_a_lost_exercise_is_run(sandbox):
    list(sandbox.run([ask("end", "one")]))

    replies = list(sandbox.run([ask("double", "two", "one two"), ask("double", "two", "two")]))

    assert [reply.status for reply in replies] == ["lost", "ok"]


def test_the_grader_waits_only_once_for_a_worker_that_does_not_start(monkeypatch):
    SERVERS.close()
    monkeypatch.setattr(server, "PYTHON", ["false"])
    with sandbox_of(PROCESS) as sandbox:
        for _ in range(2):
            with pytest.raises(WorkerStartError, match="the sandbox does not start"):
                list(sandbox.run([ask("double")]))


@pytest.mark.parametrize("forks", [True, False])
def test_in_process_exercises_share_a_process_until_a_call_is_lost(monkeypatch, forks):
    SERVERS.close()
    monkeypatch.setattr(server, "CAN_FORK", forks)
    calls = [ask("mark"), ask("mark", "two"), ask("end", "three"), ask("mark", "four")]
    with sandbox_of(PROCESS) as sandbox:
        replies = list(sandbox.run([*calls, ask("hang", "five", deadline=1.0), ask("mark", "six")]))
        texts = [reply.text for reply in replies if reply.status != "ok"]

    assert texts == [
        "Thing.end ended the process that graded it",
        "Thing.hang took longer than 1 seconds",
    ]
    marks = [reply.tensors["out/output"][0] for reply in replies if reply.status == "ok"]
    assert marks == [1, 2, 1, 1]
    assert len(SERVERS.idle[PROCESS, None]) == forks


LARGE = """
import dataclasses
import numpy as np
from tensormark.sandbox import server
from testkit.asking import ask, sandbox_of

server.CAN_FORK = False
with sandbox_of("process") as sandbox:
    next(sandbox.run([dataclasses.replace(ask("double"), tensors={"x": np.zeros(1 << 20)})]))
"""


@pytest.mark.tier("contained")  # which has bwrap, too
def test_a_disk_without_room_for_a_request_is_an_error_and_no_signal(tmp_path):
    small = ["bwrap", "--dev-bind", "/", "/", "--size", str(4 << 20), "--tmpfs", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "TMPDIR": str(tmp_path)}

    ended = subprocess.run(
        [*small, sys.executable, "-c", LARGE],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "No space left on device" in ended.stderr


DEEP = """
import torch

class Thing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList(torch.nn.Linear(1, 1, bias=False) for _ in range(70))

    def double(self, x):
        return 2 * x
"""


def test_an_object_may_lack_any_number_of_parameters():
    biases = {f"weights/parts.{number}.bias": np.zeros(1, np.float32) for number in range(70)}
    request = dataclasses.replace(ask("double"), tensors={"x": X, **biases})
    with sandbox_of(PROCESS, DEEP) as sandbox:
        (reply,) = sandbox.run([request])

    assert reply.message["lacking_parts"] == ["has no parameter parts.0.bias"], reply.text


def test_printed_output_is_kept_up_to_a_limit(sandbox):
    list(sandbox.run([ask("speak")]))
    sandbox.__exit__()

    text = sandbox.printed.text()

    assert text.startswith("hello [31m xxx")
    assert len(text) < 20_000


@IN_EACH_TIER
def test_two_threads_work(tier):
    with sandbox_of(tier, threads=2) as sandbox:
        (reply,) = sandbox.run([ask("product")])

    assert (reply.tensors["out/output"] == 602).all(), reply.text


def test_the_folders_of_a_killed_grader_are_removed_by_the_next(tmp_path, monkeypatch):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, used = (tmp_path / f"grader-{process}-abc" for process in (ended.pid, os.getpid()))
    left.mkdir()
    used.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    worker_process.sweep.cache_clear()

    worker_process.new_folder().cleanup()

    assert list(tmp_path.iterdir()) == [used]


# --- what a submission may cost -----------------------------------------------------------------


@IN_EACH_TIER
def test_a_call_is_ended_at_its_deadline_and_after_two_nothing_more_is_run(tier):
    with opened(tier, limits=dataclasses.replace(LIMITS, call_seconds=2.0)) as sandbox:
        first = [ask("hang", "one", deadline=1.0), ask("end", "two"), ask("double", "three")]
        task = dataclasses.replace(ask("double", "six"), task=True)

        replies = list(sandbox.run([*first, ask("hang", "four"), ask("double", "five"), task]))

    hangs = [f"Thing.hang took longer than {seconds} seconds" for seconds in (1, 2)]
    reason = "not run: " + ", and ".join(hangs)
    texts = [hangs[0], "Thing.end ended the process that graded it", "", hangs[1], reason, reason]
    assert [reply.text for reply in replies] == texts
    assert [reply.status == "ok" for reply in replies] == [not text for text in texts]


@IN_EACH_TIER
def test_a_submission_that_has_used_up_its_seconds_is_not_run_any_further(tier):
    with opened(tier, budget=2.0) as sandbox:
        task = dataclasses.replace(ask("double", "three"), task=True)
        start = time.monotonic()
        replies = list(sandbox.run([ask("hang", "one"), ask("double", "two"), task]))

    assert 1.5 < time.monotonic() - start < 2 + STILL
    assert [reply.status for reply in replies] == ["lost", "lost", "ok"]
    assert replies[1].text == "not run: the submission used up its 2 seconds"


SLOW = """

import time


def slow(*_, **__):
    time.sleep({in_calls})


time.sleep(1.2)
Convolution.forward = Detector.forward = slow
"""


def worst_case(limits):
    """Return the seconds that hanging can cost: the formula of isolation.md."""
    call = min(limits.call_seconds, CALL_DEADLINE)
    return HANGS * (limits.load_seconds + max(limits.exercise_seconds, call))


@pytest.mark.tier("contained")
@pytest.mark.parametrize("in_calls", [1000, 0.4], ids=["calls", "exercises"])
def test_a_submission_that_hangs_wherever_it_can_costs_no_more_than_the_formula_says(
    assignment, solution_source, tmp_path, in_calls
):
    limits = Limits(load_seconds=2.5, call_seconds=0.5, exercise_seconds=1.0)
    path = tmp_path / toy.MAIN
    path.write_text(solution_source + SLOW.format(in_calls=in_calls), "utf-8")
    settings = Settings.of(assignment.folder, tier="contained", limits=limits)
    with opened("contained") as warm:
        list(warm.run([ask("double")]))

    start = time.monotonic()
    grading = Grading(settings, assignment)
    grade = grading.grade(grading.read(str(path)))
    elapsed = time.monotonic() - start

    assert elapsed < worst_case(limits) + STILL
    assert grade.sums()[0] == 0
    assert 30 * worst_case(Limits()) < 90 * 60  # thirty such in a class of three hundred


HANGS_ON_TAPE = """
import sys

def forward(self, signals):
    is_recorded = sys.gettrace() is not None
    while is_recorded:
        pass
    return signals

Convolution.forward = Detector.forward = forward
"""


def test_a_submission_that_hangs_where_it_is_recorded_is_recorded_only_once(
    assignment, solution_source, tmp_path, monkeypatch
):
    path = tmp_path / toy.MAIN
    path.write_text(solution_source + HANGS_ON_TAPE, "utf-8")
    grading = Grading(Settings.of(assignment.folder, limits=Limits(call_seconds=1.0)), assignment)
    orders = []
    run = Sandbox.run

    def counted(sandbox, requests, *more):
        asked = list(requests)
        orders.extend(each for each in asked if each.tape is not None)
        return run(sandbox, asked, *more)

    monkeypatch.setattr(Sandbox, "run", counted)

    grade = grading.grade(grading.read(str(path)), check=True)

    assert [result.outcome for result in grade.results] == [Outcome.FAILED] * 2
    assert len(orders) == 1
