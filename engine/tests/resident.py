"""Commands without a program for each: in this process, whose workers have torch already.

To start Python and import torch twice takes seconds, and most tests are about what a command says.
Workers are forked as for `tensormark watch`; nothing that one leaves behind reaches the next. Where
it is the start that a test is about, it runs `graded.tensormark(...)`, or uses the fixture
`workers_are_started`.
"""

import atexit
import contextlib
import importlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

from tensormark import cli, grade
from tensormark.folder import DEFINITION, PACKAGE
from tensormark.sandbox.process import ProcessSandbox
from tensormark.sandbox.waiting import ForkedWorker, ForkServer
from tensormark.sandbox.worker_process import WorkerHandle, WorkerProcess, environment
from tensormark.viva import command


class Kept(ForkedWorker):
    """A worker whose process waits for the next one when this one is closed."""

    def __init__(self, server: ForkServer, idle: list[ForkServer]) -> None:
        super().__init__(server.send, server.end)
        self.server, self.idle = server, idle

    def close(self) -> None:
        """End it; a second time does nothing."""
        if not self.closed:
            self.closed = True
            super().close()
            for stream in (self.stdout, self.stderr):
                stream.close()  # if nobody has read it; a program would end now
            self.idle.append(self.server)


class Workers:
    """Starts workers of the tier `process`, by processes that are kept."""

    def __init__(self) -> None:
        self.idle: dict[tuple[Any, ...], list[ForkServer]] = {}

    def take(self, threads: int) -> WorkerHandle:
        """Return a worker for so many threads, with the environment that one would have now."""
        if threads < 1 or not sys.platform.startswith("linux"):
            return WorkerProcess(threads)
        key = tuple(environment(threads, "").items())
        idle = self.idle.setdefault(key, [])
        server = idle.pop() if idle else ForkServer(threads)
        server.prepare()
        return Kept(server, idle)

    def close(self) -> None:
        """End the processes that wait."""
        for idle in self.idle.values():
            while idle:
                idle.pop().close()


WORKERS = Workers()
atexit.register(WORKERS.close)


@contextlib.contextmanager
def workers_by(start: Callable[[int], WorkerHandle]) -> Iterator[None]:
    """Have whatever starts a worker here start it in this way."""
    default = mock.patch.object(ProcessSandbox.__init__, "__defaults__", (None, start))
    by_name = (mock.patch.object(module, "WorkerProcess", start) for module in (grade, command))
    with default, contextlib.ExitStack() as stack:
        for patch in by_name:
            stack.enter_context(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def workers_are_kept() -> Iterator[None]:
    with workers_by(WORKERS.take):
        yield


@pytest.fixture
def workers_are_started() -> Iterator[None]:
    """Start a program for each worker, as outside of the tests."""
    with workers_by(WorkerProcess):
        yield


def take_assignment() -> dict[str, ModuleType]:
    """Have no assignment imported any more; return the modules of the one that was."""
    names = [name for name in [*sys.modules] if name.partition(".")[0] == PACKAGE]
    return {name: sys.modules.pop(name) for name in names}


@contextlib.contextmanager
def no_assignment_yet() -> Iterator[None]:
    """Have an assignment imported anew, from where it is and as it is now."""
    path = [entry for entry in sys.path if not Path(entry, DEFINITION).is_file()]
    before = take_assignment()
    importlib.invalidate_caches()
    try:
        with mock.patch.object(sys, "path", path):
            yield
    finally:
        take_assignment()
        sys.modules.update(before)


def called(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run one of tensormark's commands in a folder, as `python -m tensormark` would."""
    encoding = os.environ.get("PYTHONIOENCODING", "utf-8")
    out, errors = (io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for _ in range(2))
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ),
        no_assignment_yet(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        try:
            status = cli.main(words)
        except SystemExit as ended:  # of argparse
            status = int(ended.code or 0)
    texts = (stream.buffer.getvalue().decode() for stream in (out, errors))
    return subprocess.CompletedProcess(words, status, *texts)
