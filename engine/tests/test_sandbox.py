"""The tiers behind one interface: deadlines, partial answers, lost calls."""

import dataclasses
import importlib.util
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from asking import CODE, GIVEN, LIMITS, X, ask, program_with, sandbox_of
from graded import ran
from tensormark.sandbox.interface import PROCESS, TIERS, Sandbox, WorkerStartError
from tensormark.sandbox.tiers import open_sandbox
from tiers import ISOLATING, marked


@pytest.fixture(params=marked(TIERS))
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox_of(request.param) as opened:
        yield opened


def test_a_call_is_answered_with_tensors(sandbox: Sandbox) -> None:
    (reply,) = sandbox.run([ask("double")])

    assert reply.status == "ok"
    np.testing.assert_array_equal(reply.tensors["out/output"], 2 * X)


@pytest.mark.usefixtures("workers_are_started")
def test_answers_before_a_crash_are_kept_and_other_exercises_run(sandbox: Sandbox) -> None:
    calls = [ask("double"), ask("end"), ask("double"), ask("double", "two")]

    replies = list(sandbox.run(calls))

    assert [reply.status for reply in replies] == ["ok", "lost", "lost", "ok"]
    assert "Thing.end ended the process that graded it" in replies[1].text


def test_a_call_that_does_not_run_a_lost_exercise_is_run(sandbox: Sandbox) -> None:
    list(sandbox.run([ask("end", "one")]))

    replies = list(sandbox.run([ask("double", "two", "one two"), ask("double", "two", "two")]))

    assert [reply.status for reply in replies] == ["lost", "ok"]


def test_the_grader_waits_only_once_for_a_worker_that_does_not_start() -> None:
    with sandbox_of(PROCESS, threads=0) as sandbox:
        for _ in range(2):
            with pytest.raises(WorkerStartError, match="it ended the process that graded it"):
                list(sandbox.run([ask("double")]))


@pytest.mark.usefixtures("workers_are_started")
def test_a_call_is_ended_at_its_deadline(sandbox: Sandbox) -> None:
    hanging = [ask("hang", name, deadline=2.0) for name in ("one", "two")]

    replies = list(sandbox.run([ask("double"), *hanging]))

    assert [reply.status for reply in replies] == ["ok", "lost", "lost"]
    assert replies[1].text == "Thing.hang took longer than 2 seconds"


@pytest.mark.parametrize("tier", marked(TIERS))
def test_the_limits_cap_the_deadline_of_a_call(tier: str) -> None:
    capped = dataclasses.replace(LIMITS, call_seconds=1.0)

    with open_sandbox(tier, program_with(limits=capped)) as sandbox:
        (reply,) = sandbox.run([ask("hang")])

    assert reply.text == "Thing.hang took longer than 1 seconds"


@pytest.mark.parametrize(
    ("code", "status", "text"),
    [
        (
            "raise NotImplementedError('embed')",
            "error",
            "raised NotImplementedError: embed (main.py, line 1)",
        ),
        ("1 / 0", "error", "raised ZeroDivisionError: division by zero (main.py, line 1)"),
        ("import os; os._exit(3)", "lost", "importing main.py ended the process that graded it"),
        ("raise SystemExit(0)", "error", "raised SystemExit: 0 (main.py, line 1)"),
    ],
)
@pytest.mark.parametrize("tier", marked(TIERS))
def test_a_submission_that_cannot_be_imported_is_explained(
    tier: str, code: str, status: str, text: str
) -> None:
    with sandbox_of(tier, code) as sandbox:
        replies = list(sandbox.run([ask("double"), ask("double", "two")]))

    assert [(reply.status, reply.text) for reply in replies] == [(status, text)] * 2


def test_printed_output_is_kept_up_to_a_limit(sandbox: Sandbox) -> None:
    list(sandbox.run([ask("speak")]))
    sandbox.__exit__()

    text = sandbox.printed.text()

    assert text.startswith("hello [31m xxx")
    assert len(text) < 20_000


@pytest.mark.parametrize("tier", marked(TIERS))
def test_two_threads_work(tier: str) -> None:
    with sandbox_of(tier, threads=2) as sandbox:
        (reply,) = sandbox.run([ask("product")])

    assert reply.status == "ok", reply.text
    assert (reply.tensors["out/output"] == 602).all()


def test_own_sources_can_be_reloaded(sandbox: Sandbox) -> None:
    list(sandbox.run([ask("end")]))
    sandbox.reload({**GIVEN, "main": CODE.replace("2 * x", "3 * x")})

    (reply,) = sandbox.run([ask("double")])

    np.testing.assert_array_equal(reply.tensors["out/output"], 3 * X)


PACKAGES = (
    CODE
    + """

def found(self, x):
    import importlib, json, sysconfig
    importlib.invalidate_caches()  # which lists folders anew
    import timeit, wave
    found = []
    for name in {names!r}:
        try:
            module = importlib.import_module(name)
            found.append(open(module.__file__, "rb").read(1) is not None)
        except ModuleNotFoundError:
            path = os.path.join(sysconfig.get_paths()["purelib"], name, "__init__.py")
            try:
                found.append(bool(open(path).read()) or True)
            except OSError:
                found.append(False)
    return torch.tensor(found)


Thing.double = found
"""
)


@pytest.mark.parametrize("tier", marked(ISOLATING))
def test_a_submission_has_the_packages_of_requirements_and_no_others(tier: str) -> None:
    required = ["torch", "numpy", "safetensors", "sympy"]
    others = ["pytest", "pip", "tensormark"]
    others += [name for name in ("xdist", "regex", "scipy") if importlib.util.find_spec(name)]
    assert all(importlib.util.find_spec(name) for name in others)

    with sandbox_of(tier, PACKAGES.format(names=[*required, *others])) as sandbox:
        (reply,) = sandbox.run([ask("double")])

    assert reply.status == "ok", reply.text
    readable = dict(zip([*required, *others], reply.tensors["out/output"].tolist(), strict=True))
    assert readable == dict.fromkeys(required, True) | dict.fromkeys(others, False)


def test_a_tier_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match="contained, locked, process"):
        sandbox_of("none")


def test_an_optimizer_is_built_without_the_compiler() -> None:
    code = (
        "import sys, torch\n"
        "from tensormark.worker.warm import spare_dynamo\n"
        "spare_dynamo()\n"
        "parameter = torch.zeros(2, requires_grad=True)\n"
        "optimizer = torch.optim.Optimizer([parameter], {'lr': 0.1})\n"
        "optimizer.zero_grad()\n"
        "optimizer.state_dict()\n"
        "print('torch._dynamo' in sys.modules)\n"
    )

    assert ran(sys.executable, "-c", code).stdout == "False\n"


def test_a_call_that_runs_a_lost_exercise_is_not_begun_ahead() -> None:
    with sandbox_of(PROCESS) as sandbox:
        list(sandbox.run([ask("end")]))
        list(sandbox.run([ask("double", "two")]))
        worker = sandbox.worker

        calls = [ask("double", "two"), ask("double", "two", "one two"), ask("double", "two")]
        replies = list(sandbox.run(calls))
        same_worker = sandbox.worker is worker

    assert [reply.status for reply in replies] == ["ok", "lost", "ok"]
    assert same_worker


def test_replies_that_are_no_longer_wanted_are_not_taken_for_those_of_later_calls() -> None:
    with sandbox_of(PROCESS) as sandbox:
        replies = sandbox.run([ask("double"), ask("mark"), ask("mark")])
        first = next(replies)
        del replies

        (reply,) = sandbox.run([ask("mark")])

    assert first.status == reply.status == "ok"
    np.testing.assert_array_equal(reply.tensors["out/output"], X)  # the first mark


def test_a_call_that_was_begun_before_other_sources_came_is_not_answered_for_them() -> None:
    with sandbox_of(PROCESS) as sandbox:
        replies = sandbox.run([ask("double"), ask("double"), ask("double")])
        next(replies)

        sandbox.reload({**GIVEN, "main": CODE.replace("2 * x", "3 * x")})
        (reply,) = sandbox.run([ask("double")])

    np.testing.assert_array_equal(reply.tensors["out/output"], 3 * X)


def test_a_request_that_cannot_be_packed_costs_no_other_call_its_answer() -> None:
    unpackable = dataclasses.replace(ask("double"), call={"target": object()})
    with sandbox_of(PROCESS) as sandbox:
        with pytest.raises(TypeError):
            list(sandbox.run([ask("double"), unpackable]))

        (reply,) = sandbox.run([ask("mark", "two")])

    np.testing.assert_array_equal(reply.tensors["out/output"], X)
