"""Workers of the tier `process` that have already imported torch: for grading on each save.

On Linux, one process imports torch and forks a worker for each grading, however soon the next one
comes. On other systems, a fork may break the libraries that torch computes with (macOS's do not
support it), so a worker for the next grading is started after each one.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from tensormark.sandbox.worker_process import (
    FOLDER_VARIABLES,
    WORKER,
    WorkerHandle,
    WorkerProcess,
    environment,
    new_folder,
)

SCRIPT = WORKER.with_name("forking.py")


class SpareWorker:
    """Starts each worker before it is needed."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.worker: WorkerProcess | None = WorkerProcess(threads)

    def take(self, threads: int) -> WorkerHandle:
        """Return the spare worker, or a new one."""
        spare, self.worker = self.worker, None
        return spare or WorkerProcess(threads)

    def prepare(self, harness: Path) -> None:
        """Start a worker, unless there is one."""
        self.worker = self.worker or WorkerProcess(self.threads)

    def close(self) -> None:
        """End the spare worker."""
        if self.worker is not None:
            self.worker.close()
            for stream in (self.worker.stdout, self.worker.stderr):
                stream.close()
        self.worker = None


class ForkedWorker(WorkerHandle):
    """A worker that the fork server forks."""

    def __init__(self, server: "ForkServer") -> None:
        super().__init__()
        self.server = server
        request_fd, stdin = os.pipe()
        stdout, reply_fd = os.pipe()
        stderr, printed_fd = os.pipe()
        child_ends = [request_fd, reply_fd, printed_fd]
        self.stdin = os.fdopen(stdin, "wb")
        self.stdout = os.fdopen(stdout, "rb")
        self.stderr = os.fdopen(stderr, "rb")
        try:
            variables = dict.fromkeys(FOLDER_VARIABLES, self.folder.name)
            server.send({"folder": self.folder.name, "environment": variables}, child_ends)
        finally:
            for descriptor in child_ends:
                os.close(descriptor)

    def end(self) -> None:
        """Have the server end it."""
        self.server.end()


class ForkServer:
    """The process that has imported torch and forks a worker for each grading."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.loads_harness = True
        self._start()

    def _start(self) -> None:
        """Start the process."""
        self.folder = new_folder()
        self.control, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with child_end:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-B", str(SCRIPT), str(child_end.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.folder.name,
                env=environment(self.threads, self.folder.name),
                pass_fds=[child_end.fileno()],
                start_new_session=True,
            )

    def take(self, threads: int) -> WorkerHandle:
        """Have a worker forked, by a new process if this one has died."""
        if threads != self.threads:
            return WorkerProcess(threads)
        self.restart()
        return ForkedWorker(self)

    def send(self, order: dict[str, Any], descriptors: list[int]) -> None:
        """Send an order; if the process has died, the worker's streams end at once."""
        with contextlib.suppress(OSError):
            socket.send_fds(self.control, [json.dumps(order).encode()], descriptors)

    def end(self) -> None:
        """Have the worker ended, and wait for it; it ends with the process if that has died."""
        self.send({}, [])
        self._received()

    def _received(self) -> bytes:
        """Wait for the process's message; if it has died, there is none."""
        with contextlib.suppress(OSError):
            return self.control.recv(1000)
        return b""

    def prepare(self, harness: Path) -> None:
        """Have the process load the harness, which each worker would do otherwise.

        It must not be running a worker. Later changes to the harness have no effect.
        If that ends it, as a harness may start threads, each worker loads it after all.
        """
        self.restart()
        if self.loads_harness:
            self.send({"harness": str(harness)}, [])
            self.loads_harness = bool(self._received())
            if not self.loads_harness:
                self.close()
                self._start()

    def restart(self) -> None:
        """Start another process, if this one has died."""
        if self.process.poll() is not None:
            self.close()
            self._start()

    def close(self) -> None:
        """End the process; its worker ends with it."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def warm_workers(threads: int) -> ForkServer | SpareWorker:
    """Start the kind that suits this system, for workers with this many torch threads."""
    return ForkServer(threads) if sys.platform.startswith("linux") else SpareWorker(threads)
