"""Runs commands in this process, with workers that have already imported torch.

Starting Python and importing torch twice takes seconds, and most tests are about what a command
says. Workers are forked as for `tensormark watch`; nothing that one leaves behind reaches the next.
A test of the start itself runs `graded.tensormark(...)`, or uses the fixture `workers_are_started`.
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
from tensormark.sandbox.fork_server import ForkedWorker, WorkerServer
from tensormark.sandbox.process import ProcessSandbox
from tensormark.sandbox.worker_process import WorkerHandle, WorkerProcess, environment


class ReusableWorker(ForkedWorker):
    """A worker whose fork server becomes idle, for the next worker, when it is closed."""

    def __init__(self, server: WorkerServer, idle: list[WorkerServer]) -> None:
        super().__init__(server)
        self.idle = idle
        self.closed = False

    def close(self) -> None:
        """End it; a second time does nothing."""
        if not self.closed:
            self.closed = True
            super().close()
            for stream in (self.stdout, self.stderr):
                stream.close()  # even if unread, as when a program ends
            self.idle.append(self.server)


class Workers:
    """Starts workers of the tier `process` from fork servers that it reuses."""

    def __init__(self) -> None:
        self.idle: dict[tuple[Any, ...], list[WorkerServer]] = {}

    def take(self, threads: int) -> WorkerHandle:
        """Return a worker with this many threads and the current environment."""
        if threads < 1 or not sys.platform.startswith("linux"):
            return WorkerProcess(threads)
        key = tuple(environment(threads, "").items())
        idle = self.idle.setdefault(key, [])
        server = idle.pop() if idle else WorkerServer(threads)
        server.restart()
        return ReusableWorker(server, idle)

    def close(self) -> None:
        """End the idle processes."""
        for idle in self.idle.values():
            while idle:
                idle.pop().close()


WORKERS = Workers()
atexit.register(WORKERS.close)


@contextlib.contextmanager
def workers_by(start: Callable[[int], WorkerHandle]) -> Iterator[None]:
    """Have all code in this process start its workers with `start`."""
    default = mock.patch.object(ProcessSandbox.__init__, "__defaults__", (None, start))
    with default, mock.patch.object(grade, "WorkerProcess", start):
        yield


@pytest.fixture(scope="session", autouse=True)
def workers_are_kept() -> Iterator[None]:
    with workers_by(WORKERS.take):
        yield


@pytest.fixture
def workers_are_started() -> Iterator[None]:
    """Start a program for each worker, as outside tests."""
    with workers_by(WorkerProcess):
        yield


def forget_assignment() -> dict[str, ModuleType]:
    """Remove the imported assignment's modules from sys.modules; return them."""
    names = [name for name in [*sys.modules] if name.partition(".")[0] == PACKAGE]
    return {name: sys.modules.pop(name) for name in names}


@contextlib.contextmanager
def no_assignment_yet() -> Iterator[None]:
    """Have an assignment imported afresh, from its current place and in its current state."""
    path = [entry for entry in sys.path if not Path(entry, DEFINITION).is_file()]
    before = forget_assignment()
    importlib.invalidate_caches()
    try:
        with mock.patch.object(sys, "path", path):
            yield
    finally:
        forget_assignment()
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
