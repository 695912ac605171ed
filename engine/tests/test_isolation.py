"""The isolating tiers: dying fork servers, killed graders, machines that lack something."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import toy
from asking import CODE, all_end, ask, descendants, program_with, sandbox_of
from graded import edited, tensormark
from tensormark.sandbox import isolated, seccomp
from tensormark.sandbox.interface import (
    CONTAINED,
    PROCESS,
    Answers,
    ServerLostError,
    WorkerStartError,
)
from tensormark.sandbox.isolated import SERVERS, IsolatedSandbox, IsolatedServer
from tensormark.sandbox.tiers import open_sandbox
from tensormark.worker import lockdown
from tiers import marked
from watching import Running

pytestmark = pytest.mark.tier(CONTAINED)
HERE = Path(__file__).resolve().parent
SLOWLY = "__import__('time').sleep(0.2)\n        "  # a training takes 60 steps


@pytest.fixture
def contained() -> Iterator[IsolatedSandbox]:
    with sandbox_of(CONTAINED) as sandbox:
        yield sandbox


def test_exercises_do_not_share_a_process(contained: IsolatedSandbox) -> None:
    calls = [ask("mark"), ask("mark"), ask("mark", "two")]

    replies = list(contained.run(calls))

    assert [reply.tensors["out/output"][0] for reply in replies] == [1, 2, 1]


@pytest.mark.parametrize(
    ("second", "counting"), [("double", ["one", "two", "three"]), ("mark", ["one"])]
)
def test_only_the_first_exercise_counts_if_a_shared_process_was_changed(
    contained: IsolatedSandbox, second: str, counting: list[str]
) -> None:
    answers = contained.together([ask("double"), ask(second, "two"), ask("double", "three")])

    assert [*answers] == counting
    assert [shared.first for shared in answers.values()] == [True, False, False][: len(counting)]


@pytest.mark.parametrize("harm", ["end", "hang", "large"])
def test_harm_to_a_shared_process_counts_against_no_exercise(
    contained: IsolatedSandbox, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    monkeypatch.setattr(isolated, "SHARED_SECONDS", 1.0)
    calls = [ask("double"), ask(harm, "two"), ask("double", "three")]

    answers = contained.together(calls)
    (reply,) = contained.run([ask("double", "three")])

    assert "one" in answers
    assert ("three" in answers) is (harm == "large")
    assert reply.status == "ok"
    assert contained.budget.hung == []
    assert contained.budget.lost == {}


def test_output_of_an_import_is_kept_once_and_that_of_calls_by_exercise() -> None:
    calls = [ask("say"), ask("double", "two"), ask("say", "three")]
    code = (
        f"print('imported'){CODE}\n    def say(self, x):\n        print('said')\n        return x\n"
    )
    with sandbox_of(CONTAINED, code) as sandbox:
        answers = sandbox.together(calls)
        list(sandbox.run(calls[2:]))

        assert [shared.printed for shared in answers.values()] == [b"said\n", b"", b"said\n"]
        assert sandbox.printed.text() == "imported\nsaid\n"


def test_an_answer_that_is_too_large_is_an_error(contained: IsolatedSandbox) -> None:
    (reply,) = contained.run([ask("large")])

    assert (reply.status, reply.text) == ("error", "returned more than 1 MiB")


def test_a_submission_that_closes_its_output_costs_the_grader_no_processor_time(
    contained: IsolatedSandbox,
) -> None:
    list(contained.run([ask("double")]))
    before = time.process_time()

    (reply,) = contained.run([ask("mute")])

    assert reply.status == "ok"
    assert time.process_time() - before < 1  # of the two seconds that the call takes


@pytest.mark.usefixtures("workers_are_started")
def test_a_worker_that_no_longer_reads_is_lost_at_the_deadline() -> None:
    large = np.zeros(200_000, dtype=np.float32)  # more than a pipe holds
    with sandbox_of(PROCESS) as sandbox:
        list(sandbox.run([ask("stop_later")]))
        stat = Path(f"/proc/{sandbox.worker.handle.process.pid}/stat")
        while stat.read_text().rpartition(")")[2].split()[0] != "T":
            time.sleep(0.05)
        request = dataclasses.replace(ask("double", "two", deadline=2), tensors={"x": large})

        (reply,) = sandbox.run([request])

    assert reply.status == "lost"


def test_a_fork_server_that_has_died_is_replaced_and_the_job_tried_again(
    contained: IsolatedSandbox,
) -> None:
    list(contained.run([ask("double")]))
    first = contained.worker
    first.process.kill()

    (reply,) = contained.run([ask("double")])

    assert reply.status == "ok"
    assert contained.worker is not first


def test_a_fork_server_that_dies_twice_is_an_error_of_the_machine(
    contained: IsolatedSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = []

    def run(server: IsolatedServer, *_: object) -> Answers:
        servers.append(server)
        raise ServerLostError("the fork server has died")

    monkeypatch.setattr(IsolatedServer, "run", run)

    with pytest.raises(WorkerStartError, match="the fork server has died"):
        list(contained.run([ask("double")]))
    assert len(set(servers)) == 2


def test_a_second_submission_finds_the_fork_server_warm() -> None:
    with sandbox_of(CONTAINED) as first:
        list(first.run([ask("double")]))
        server = first.worker

    with sandbox_of(CONTAINED) as second:
        (reply,) = second.run([ask("double")])

        assert second.worker is server
    assert reply.status == "ok"


def test_no_process_is_left_when_the_grader_is_killed(tmp_path: Path) -> None:
    code = (
        "from asking import *; from tensormark.sandbox.interface import CONTAINED\n"
        "with sandbox_of(CONTAINED) as s:\n"
        "    list(s.run([ask('double')])); print('up', flush=True); list(s.run([ask('hang')]))\n"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True) as grader:
        assert grader.stdout.readline() == "up\n"
        time.sleep(0.3)
        processes = descendants(grader.pid)
        grader.kill()

    assert len(processes) >= 3
    assert all_end(processes)


@pytest.mark.parametrize("tier", marked([PROCESS, CONTAINED]))
def test_an_interrupted_check_leaves_no_process_and_no_result(
    folder: Path, tier: str, tmp_path: Path, solution_source: str
) -> None:
    path = tmp_path / toy.MAIN
    path.write_text(edited(solution_source, ("found = torch.relu(", "while True: (")))
    result = tmp_path / "result.json"
    command = tensormark("check", str(path), "--tier", tier, "--json", str(result))

    with Running(folder, *command) as check:
        check.until("conv")  # detector is next, and hangs
        processes = check.below()
        output = check.ended_by("SIGINT")

    assert check.process.returncode == 130
    assert output == "\ncheck: interrupted; no result was written\n"
    assert not result.exists()
    assert processes
    assert all_end(processes)


@pytest.mark.parametrize("tier", marked([PROCESS, CONTAINED]))
def test_an_interrupted_training_leaves_no_process(folder: Path, tmp_path: Path, tier: str) -> None:
    path = tmp_path / toy.MAIN
    text = (folder / "solution" / toy.MAIN).read_text(encoding="utf-8")
    path.write_text(edited(text, (toy.WINDOWS, SLOWLY + toy.WINDOWS)), encoding="utf-8")

    with Running(folder, *tensormark("grade", str(path), "--tier", tier)) as grading:
        grading.until("training: step")
        processes = grading.below()
        output = grading.ended_by("SIGINT")

    assert grading.process.returncode == 130
    assert output.endswith("\ngrade: interrupted; no result was written\n")
    assert "Traceback" not in output
    assert processes
    assert all_end(processes)


# --- what the machine lacks is named ----------------------------------------------------------


def test_without_libseccomp_there_is_no_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    SERVERS.close()
    seccomp.compiled.cache_clear()
    monkeypatch.setitem(sys.modules, "pyseccomp", None)

    for tier in (CONTAINED, "locked"):
        with pytest.raises(WorkerStartError, match="apt-get install libseccomp2"):
            sandbox_of(tier)
    seccomp.compiled.cache_clear()


def test_a_file_that_only_root_can_read_is_named(tmp_path: Path) -> None:
    harness = tmp_path / "harness.py"
    harness.touch(0o600)
    said = ""

    try:
        with open_sandbox(
            CONTAINED, dataclasses.replace(program_with(), harness=harness)
        ) as opened:
            list(opened.run([ask("double")]))
    except WorkerStartError as error:
        said = str(error)

    assert (f"only root can read {harness}: chmod" in said) is (os.getuid() == 0), said


def test_without_landlock_there_is_no_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockdown.LIBC, "syscall", lambda *_: -1, raising=False)

    with pytest.raises(lockdown.LockdownError, match="Landlock"):
        lockdown.landlock_ruleset(["/"])


def test_on_another_architecture_capabilities_are_not_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lockdown, "CAPSET", {})

    with pytest.raises(lockdown.LockdownError, match="capabilities"):
        lockdown.drop_capabilities()


def test_signals_that_end_a_process_are_named() -> None:
    with sandbox_of(
        CONTAINED, CODE.replace("os._exit(0)", "__import__('ctypes').string_at(0)")
    ) as sandbox:
        (reply,) = sandbox.run([ask("end")])

    assert signal.Signals.SIGSEGV.name in reply.text
