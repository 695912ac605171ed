"""Fork servers: processes that have imported torch and fork a child for each job. Trusted side.

`ForkServer` starts one and exchanges messages with it; isolated.py builds on it. Here is the
one of the tier `process`: for grading on each save, on Linux. On other systems, a fork may break
the libraries that torch computes with (macOS's do not support it), so each worker imports torch.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from tensormark.sandbox.interface import ServerLostError
from tensormark.sandbox.worker_process import (
    PYTHON,
    WORKER,
    WorkerHandle,
    WorkerProcess,
    environment,
    new_folder,
)
from tensormark.worker import scratch

SCRIPT = WORKER.with_name("fork_server.py")
CAN_FORK = sys.platform.startswith("linux")
MAX_MESSAGE = 1 << 16  # bytes of a message from the process


class ForkServer:
    """The process, its folder and the socket to it; None while there is no process."""

    process: "subprocess.Popen[bytes] | None" = None
    folder: "tempfile.TemporaryDirectory[str]"
    control: socket.socket
    errors: IO[bytes]

    def _start(self, command: Callable[[int], Sequence[str]], environment: dict[str, str]) -> None:
        """Start the process; it imports torch in the background.

        Args:
            command: returns the command line, given the descriptor of the process's socket.
        """
        self.control, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115, closed in close()
        try:
            self.process = subprocess.Popen(
                command(child_end.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=self.errors,
                stderr=self.errors,
                cwd="/",
                env=environment,
                pass_fds=[child_end.fileno()],
                start_new_session=True,
            )
        except BaseException:
            self.control.close()
            self.errors.close()
            self.folder.cleanup()
            raise
        finally:
            child_end.close()

    def send(self, message: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send a message, with descriptors for a child; if the process has died, do nothing."""
        with contextlib.suppress(OSError):
            socket.send_fds(self.control, [json.dumps(message).encode()], list(descriptors))

    def receive(self, deadline: float | None) -> dict[str, Any]:
        """Wait for a message.

        Raises:
            ServerLostError: the process has died, sends something else, or nothing in time.
        """
        ready, _, _ = select.select([self.control], [], [], deadline)
        if not ready:
            raise ServerLostError("the fork server does not respond")
        try:
            text = self.control.recv(MAX_MESSAGE)
            message = json.loads(text) if text else None
        except (OSError, ValueError, RecursionError) as error:
            raise ServerLostError(f"invalid message from the fork server: {error}") from error
        if not isinstance(message, dict):
            raise ServerLostError("the fork server has died")
        return message

    def close(self) -> None:
        """End the process, and everything in its container."""
        if self.process is None:
            return
        self.control.close()  # then it exits, with its child
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.process = None
        self.errors.close()
        with contextlib.suppress(OSError):
            scratch.empty(self.folder.name)  # which may be deeper than `cleanup` can go
        self.folder.cleanup()


class ForkedWorker(WorkerHandle):
    """A worker that the fork server forks."""

    def __init__(self, server: "WorkerServer") -> None:
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
            server.send({"folder": self.folder.name}, child_ends)
        finally:
            for descriptor in child_ends:
                os.close(descriptor)

    def end(self) -> None:
        """Have the server end it."""
        self.server.send({"kill": True})
        self.server.wait_for("ended", "died", "fault")


class WorkerServer(ForkServer):
    """The fork server of the tier `process`."""

    def __init__(self, threads: int) -> None:
        """Start it, for workers with this many torch threads."""
        self.threads = threads
        self.loads_harness = CAN_FORK
        self.restart()

    def restart(self) -> None:
        """Start the process, if it is not running."""
        if not CAN_FORK or (self.process is not None and self.process.poll() is None):
            return
        self.close()
        self.folder = new_folder()
        start = [*PYTHON, str(SCRIPT)]
        self._start(lambda fd: [*start, str(fd)], environment(self.threads, self.folder.name))
        self.send({})

    def take(self, threads: int) -> WorkerHandle:
        """Have a worker forked, by a new process if this one has died."""
        if threads != self.threads or not CAN_FORK:
            return WorkerProcess(threads)
        self.restart()
        return ForkedWorker(self)

    def wait_for(self, *keys: str) -> bool:
        """Wait for a message with one of these keys; return whether it has come."""
        with contextlib.suppress(ServerLostError):
            while self.receive(None).keys().isdisjoint(keys):
                pass
            return True
        return False

    def prepare(self, harness: Path, rules: Mapping[str, str]) -> None:
        """Have the process load the harness and look up rules, as each worker would otherwise.

        It must not be running a worker. Later changes to the harness have no effect.
        If that ends it, as a harness may start threads, each worker loads it after all.
        """
        if not self.loads_harness:
            return
        self.restart()
        self.loads_harness = False  # once is enough
        self.send({"harness": str(harness), "rules": dict(rules)})
        if not self.wait_for("loaded"):
            self.close()
