"""The worker that waits for the next grading, and a sandbox that is stopped during one."""

import dataclasses
import os
import subprocess
import sys
import tempfile
from contextlib import closing

import pytest

from tensormark.exercise import Call
from tensormark.sandbox import fork_server, worker_process
from tensormark.sandbox.fork_server import WorkerServer
from tensormark.sandbox.interface import Request
from tensormark.sandbox.process import ProcessSandbox
from testkit.asking import CODE, ask, program_with

HARNESS = """
import os

LOADED_BY = os.getpid()
ARGUMENTS = {"*loader": lambda context: LOADED_BY}
"""
THREAD = (
    "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()"
)
COMPARE = """
    def loaded_by_parent(self, loader):
        assert "tensormark.worker" not in sys.modules, "the grader is not hidden"
        return torch.tensor(float(loader == os.getppid()))
"""


@pytest.mark.usefixtures("workers_are_started")
def test_without_fork_each_worker_is_started(monkeypatch) -> None:
    monkeypatch.setattr(fork_server, "CAN_FORK", False)
    with closing(WorkerServer(1)) as server:
        server.prepare(program_with().harness, {})
        with ProcessSandbox(program_with(), start=server.take) as sandbox:
            (reply,) = sandbox.run([ask("double")])

        assert reply.status == "ok"
        assert server.process is None


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks")
@pytest.mark.parametrize(
    ("harness_code", "loaded_by_parent"),
    [(HARNESS, [0.0, 1.0, 1.0]), (HARNESS + THREAD, [0.0, 0.0, 0.0])],
    ids=["loaded once", "starts a thread"],
)
def test_the_harness_is_loaded_once_for_all_later_workers_if_that_is_possible(
    tmp_path, harness_code: str, loaded_by_parent: list[float]
) -> None:
    harness = tmp_path / "harness.py"
    harness.write_text(harness_code, "utf-8")
    program = dataclasses.replace(program_with(CODE + COMPARE), harness=harness)
    call = Call("Thing.loaded_by_parent", ("*loader",), "main").message()
    answers = []
    with closing(WorkerServer(1)) as server:
        for _ in range(3):
            with ProcessSandbox(program, start=server.take) as sandbox:
                (reply,) = sandbox.run([Request("one", frozenset(), call, {})])
            assert reply.status == "ok", reply
            answers.append(reply.tensors["out/output"].item())
            server.prepare(harness, {})

    assert answers == loaded_by_parent


@pytest.mark.skipif(os.name != "posix", reason="no other system tells whether a process has ended")
def test_the_folders_of_a_killed_grader_are_removed_by_the_next(tmp_path, monkeypatch) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left, used = (tmp_path / f"grader-{process}-abc" for process in (ended.pid, os.getpid()))
    left.mkdir()
    used.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    worker_process.sweep.cache_clear()

    worker_process.new_folder().cleanup()

    assert [*tmp_path.iterdir()] == [used]
