"""The tier `contained` from the command line; tests/hostile has the hostile submissions."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from asking import BUSY, CODE, ask, descendants, sandbox_of
from graded import Grade, edited, ran, tensormark
from tensormark import cli
from tensormark.files import sha256
from tensormark.sandbox.isolated import SERVERS, core_for
from toy import MAIN, WINDOWS

pytestmark = pytest.mark.tier("contained")

CONTAINED = ("--tier", "contained")


@pytest.mark.parametrize("at_import", [False, True])
def test_a_submission_that_does_not_end_is_ended_once_it_has_answered(at_import: bool) -> None:
    stay = "import os\nos._exit = os.abort = lambda *_: time.sleep(1000)\n"
    code = CODE + stay + ("raise ValueError('no')\n" if at_import else "")
    with sandbox_of("contained", code) as sandbox:
        start = time.monotonic()

        replies = list(sandbox.run([ask("double"), ask("double")]))

    assert time.monotonic() - start < BUSY / 2
    assert {reply.status for reply in replies} == {"error" if at_import else "ok"}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_job_of_one_thread_has_one_core(threads: int) -> None:
    code = CODE + "Thing.double = lambda self, x: torch.tensor([*os.sched_getaffinity(0)])\n"
    with sandbox_of("contained", code, threads) as sandbox:
        (reply,) = sandbox.run([ask("double")])

    cores = reply.tensors["out/output"].tolist()
    assert set(cores) <= os.sched_getaffinity(0)
    assert len(cores) == (1 if threads == 1 else len(os.sched_getaffinity(0)))


def test_a_submission_does_not_see_the_name_of_the_machine() -> None:
    code = CODE + "Thing.double = lambda self, x: torch.tensor([*os.uname().nodename.encode()])\n"
    with sandbox_of("contained", code) as sandbox:
        (reply,) = sandbox.run([ask("double")])

    assert bytes(reply.tensors["out/output"].tolist()) == b"container"


def test_jobs_at_the_same_time_have_different_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    free = {1001, 1002}  # cores that no grading beside this test has
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: free)

    with core_for(1) as first, core_for(1) as second, core_for(1) as third, core_for(2) as none:
        assert {first, second} == free
        assert third in free
        assert none is None


def test_a_submission_is_the_first_to_be_killed_when_memory_runs_out() -> None:
    with sandbox_of("contained") as sandbox, ThreadPoolExecutor(1) as executor:
        future = executor.submit(list, sandbox.run([ask("hang")]))
        killed: set[int] = set()
        while not future.done():
            first = {p for p in descendants(os.getpid()) if score(p) == "1000"}
            for process in first - killed:
                os.kill(process, signal.SIGKILL)
            killed |= first
            time.sleep(0.05)

    assert killed
    assert score(os.getpid()) != "1000"


def score(process: int) -> str:
    """Return how readily the kernel kills a process, or nothing if it has ended."""
    try:
        return Path(f"/proc/{process}/oom_score_adj").read_text().strip()
    except OSError:
        return ""


def orphans() -> set[str]:
    """Return the process ids of fork servers and containers whose grader is gone."""
    rows = [line.split(None, 2) for line in ran("ps", "-eo", "ppid,pid,args").stdout.splitlines()]
    return {pid for parent, pid, command in rows if parent == "1" and "fork_server.py" in command}


def test_a_check_leaves_no_process_running_and_changes_no_file_of_the_grader(
    folder: Path, tmp_path: Path, solution_source: str
) -> None:
    path = tmp_path / MAIN
    path.write_text(edited(solution_source, (WINDOWS, "import os; os._exit(1)")), encoding="utf-8")
    files = [*folder.rglob("*"), *Path(cli.__file__).parent.rglob("*.py")]
    checksums = {path: sha256(path) for path in files if path.is_file()}
    existing = orphans()

    assert ran(*tensormark("check", str(path), *CONTAINED), cwd=folder).returncode == 0

    deadline = time.monotonic() + 60
    while orphans() - existing and time.monotonic() < deadline:  # other tests kill their graders
        time.sleep(0.1)
    assert orphans() <= existing
    assert {path: sha256(path) for path in checksums} == checksums


def test_an_unavailable_tier_is_an_error_and_not_a_fallback(
    grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    SERVERS.close()
    monkeypatch.setenv("PATH", os.devnull)  # no bwrap

    graded = grade("solution", *CONTAINED)

    assert set(graded.outcomes().values()) == {"could not grade"}
    assert graded.status == 3
    assert "apt-get install bubblewrap" in graded.output
