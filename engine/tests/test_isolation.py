"""The isolating tiers: shared and dying processes, killed graders, what a machine lacks.

tests/hostile has the hostile submissions.
"""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tensormark.sandbox import bubblewrap, sandbox
from tensormark.sandbox.interface import ServerLostError, WorkerStartError
from tensormark.sandbox.run_job import core_for
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.server import SERVERS
from tensormark.sandbox.tiers import CONTAINED, PROCESS
from tensormark.worker import lockdown
from testkit import toy
from testkit.asking import BUSY, CODE, all_end, ask, descendants, program_with, sandbox_of, state
from testkit.graded import edited, program, tensormark
from testkit.tiers import marked
from testkit.watching import Running

pytestmark = pytest.mark.tier(CONTAINED)
HERE = Path(__file__).resolve().parent


@pytest.fixture
def contained():
    with sandbox_of(CONTAINED) as sandbox:
        yield sandbox


def test_exercises_do_not_share_a_process(contained):
    calls = [ask("mark"), ask("mark"), ask("mark", "two")]

    replies = list(contained.run(calls))

    assert [reply.tensors["out/output"][0] for reply in replies] == [1, 2, 1]


def test_output_of_an_import_is_kept_once_and_that_of_all_calls():
    code = (
        f"print('imported'){CODE}\n    def say(self, x):\n        print('said')\n        return x\n"
    )
    with sandbox_of(CONTAINED, code) as sandbox:
        list(sandbox.run([ask("say"), ask("double", "two"), ask("say", "three")]))

        assert sandbox.printed.text() == "imported\nsaid\nsaid\n"


def test_a_submission_that_closes_its_output_costs_the_grader_no_processor_time(contained):
    list(contained.run([ask("double")]))
    before = time.process_time()

    (reply,) = contained.run([ask("mute")])

    assert reply.status == "ok"
    assert time.process_time() - before < 1  # of the two seconds that the call takes


def test_a_process_that_no_longer_reads_is_lost_at_the_deadline():
    with sandbox_of(PROCESS) as sandbox:
        list(sandbox.run([ask("stop_later")]))
        while "T" not in map(state, descendants(sandbox.server.process.pid)):
            time.sleep(0.05)

        replies = list(sandbox.run([ask("double", "two", deadline=1), ask("double", "three")]))

    assert [reply.status for reply in replies] == ["lost", "ok"]


def test_a_fork_server_is_kept_for_the_next_submission_and_replaced_once_it_has_died():
    servers = []
    for dies in (False, True, False):
        with sandbox_of(CONTAINED) as sandbox:
            if dies:
                sandbox.server.process.kill()
                sandbox.server.process.wait()
            servers.append(sandbox.server)

            (reply,) = sandbox.run([ask("double")])

            servers.append(sandbox.server)
        assert reply.status == "ok"

    assert servers[0] is servers[1] is servers[2]
    assert servers[2] is not servers[3]
    assert servers[3] is servers[4]


def test_a_fork_server_that_dies_twice_is_an_error_of_the_machine(contained, monkeypatch):
    servers = []

    def run(server, *_):
        servers.append(server)
        raise ServerLostError("the fork server has died")

    monkeypatch.setattr(sandbox, "run_job", run)

    with pytest.raises(WorkerStartError, match="the fork server has died"):
        list(contained.run([ask("double")]))
    assert len(set(servers)) == 2


def test_no_process_is_left_when_the_grader_is_killed(tmp_path):
    code = (
        "from testkit.asking import *; from tensormark.sandbox.tiers import CONTAINED\n"
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
    folder, tier, tmp_path, solution_source
):
    path = tmp_path / toy.MAIN
    path.write_text(edited(solution_source, ("found = torch.relu(", "while True: (")))
    result = tmp_path / "result.json"
    command = tensormark("check", str(path), "--tier", tier, "--json", str(result))

    with Running(folder, *command) as check:
        check.until("conv")  # detector is next, and hangs
        processes = check.below()
        output = check.ended_by("SIGINT")

    assert check.process.returncode == 130
    assert output == "\ncheck: interrupted\n"
    assert not result.exists()
    assert processes
    assert all_end(processes)


@pytest.mark.parametrize("at_import", [False, True])
def test_a_submission_that_does_not_end_is_ended_once_it_has_answered(at_import):
    stay = "import os\nos._exit = os.abort = lambda *_: time.sleep(1000)\n"
    code = CODE + stay + ("raise ValueError('no')\n" if at_import else "")
    with sandbox_of(CONTAINED, code) as sandbox:
        start = time.monotonic()

        replies = list(sandbox.run([ask("double"), ask("double")]))

    assert time.monotonic() - start < BUSY / 2
    assert {reply.status for reply in replies} == {"error" if at_import else "ok"}


def test_a_job_sees_the_name_of_its_container():
    code = "Thing.double = lambda self, x: torch.tensor([*os.uname().nodename.encode()])\n"
    with sandbox_of(CONTAINED, CODE + code) as sandbox:
        (reply,) = sandbox.run([ask("double")])

    assert bytes(reply.tensors["out/output"].tolist()) == b"container"


def test_jobs_at_the_same_time_have_different_cores(monkeypatch):
    free = {1001, 1002}  # cores that no grading beside this test has
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: free)

    with core_for(1) as first, core_for(1) as second, core_for(1) as third, core_for(2) as none:
        assert {first, second} == free
        assert third in free
        assert none is None


def test_a_submission_is_the_first_to_be_killed_when_memory_runs_out():
    with sandbox_of(CONTAINED) as sandbox, ThreadPoolExecutor(1) as executor:
        future = executor.submit(list, sandbox.run([ask("hang")]))
        killed = set()
        while not future.done():
            first = {p for p in descendants(os.getpid()) if score(p) == "1000"}
            for process in first - killed:
                os.kill(process, signal.SIGKILL)
            killed |= first
            time.sleep(0.05)

    assert killed
    assert score(os.getpid()) != "1000"


def score(process):
    """Return how readily the kernel kills a process, or nothing if it has ended."""
    try:
        return Path(f"/proc/{process}/oom_score_adj").read_text().strip()
    except OSError:
        return ""


# --- what the machine lacks is named ----------------------------------------------------------


def test_a_file_that_only_root_can_read_is_named(tmp_path):
    harness = tmp_path / "harness.py"
    harness.touch(0o600)
    said = ""

    try:
        with Sandbox(CONTAINED, dataclasses.replace(program_with(), harness=harness)) as opened:
            list(opened.run([ask("double")]))
    except WorkerStartError as error:
        said = str(error)

    assert (f"only root can read {harness}: chmod" in said) is (os.getuid() == 0), said


def test_without_landlock_there_is_no_isolation(monkeypatch):
    monkeypatch.setattr(lockdown.LIBC, "syscall", lambda *_: -1, raising=False)

    with pytest.raises(lockdown.LockdownError, match="Landlock"):
        lockdown.landlock_ruleset(["/"])


def test_apparmor_is_named_where_it_refuses_a_container(tmp_path, monkeypatch):
    SERVERS.close()
    program(tmp_path / "bwrap", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    (tmp_path / "restricted").write_text("1\n")
    monkeypatch.setattr(bubblewrap, "RESTRICTED", tmp_path / "restricted")

    with sandbox_of(CONTAINED) as sandbox, pytest.raises(WorkerStartError) as caught:
        list(sandbox.run([ask("double")]))

    assert "uid map: Permission denied" in str(caught.value)
    assert "AppArmor allows it to root only" in str(caught.value)


def test_an_unavailable_tier_is_an_error_and_not_a_fallback(grade, monkeypatch):
    SERVERS.close()
    monkeypatch.setenv("PATH", os.devnull)  # no bwrap

    graded = grade("solution", "--tier", CONTAINED)

    assert set(graded.outcomes().values()) == {"could not grade"}
    assert graded.status == 3
    assert "apt-get install bubblewrap" in graded.output
