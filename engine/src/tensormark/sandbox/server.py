"""The worker processes: how they are started, asked and ended, and kept. Trusted side.

This module imports little, so that a worker can be started first: it imports torch, which takes
seconds, while the rest of the grader imports numpy and reads references.

Any problem with a worker (it dies, does not respond, sends an invalid message) is a
ServerLostError; it is then killed with everything in it.
"""

import atexit
import base64
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tensormark.sandbox import packages, seccomp
from tensormark.sandbox.container import NoContainer, ServerKey
from tensormark.sandbox.interface import START_DEADLINE, ServerLostError, WorkerStartError
from tensormark.sandbox.tiers import BY_NAME
from tensormark.sandbox.worker_process import PYTHON, inherited, new_folder, variables
from tensormark.worker import scratch


def _can_fork() -> bool:
    """Return whether a process that has imported torch can fork, and jobs be memory files.

    A fork may break the libraries that torch computes with on macOS; WSL 1 lacks these calls.
    """
    try:
        os.close(os.memfd_create("job"))
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


CAN_FORK = _can_fork()
KILL_DEADLINE = 30.0  # seconds for the server to report that it has killed the child
FIRST_USER = 1_000_000_000  # the first of the servers' user ids, far above those of real users
MAX_SERVERS = 64  # per process
MAX_MESSAGE = 1 << 16  # bytes of a message from the process
USERS = iter(range(FIRST_USER + os.getpid() * MAX_SERVERS, 1 << 31))


class Server:
    """A worker process and the socket to it; it forks a child for jobs.

    Where a system cannot fork, the process itself is the child, and a new one is started instead of
    it.

    Attributes:
        is_busy: whether there may be a child: it has not been reported that the last one ended.
        loaded: the sources that this child has imported.
        is_closed: whether the process has ended.
    """

    def __init__(self, tier: str, key: ServerKey | None) -> None:
        """Start it; it imports torch in the background.

        Raises:
            WorkerStartError: the machine lacks something; the message says what.
        """
        self.tier = BY_NAME[tier]
        self.key = key
        self.forks = CAN_FORK
        self.is_ready = self.is_busy = self.is_closed = False
        self.loaded: object = None
        order: dict[str, Any] = {"forks": self.forks}
        if self.key is not None:
            order |= self._isolated(self.key)
        self.folder = new_folder()
        environment = {**inherited(), **variables(self.folder.name)}
        if self.key is not None:
            os.chmod(self.folder.name, 0o777)  # the process may switch to another user
            scratch_folder = self.tier.container.scratch(self.folder.name)
            environment = {"PATH": "/usr/bin:/bin", **variables(scratch_folder)}
        self._start([*PYTHON, str(self.tier.container.worker / "fork_server.py")], environment)
        self.send(order)

    def _isolated(self, key: ServerKey) -> dict[str, Any]:
        """Return what the process needs to know to isolate its children.

        Raises:
            WorkerStartError: the machine lacks something.
        """
        if not sys.platform.startswith("linux"):
            raise WorkerStartError(f"the tier `{self.tier.name}` needs Linux")
        container = self.tier.container
        return {
            "user": next(USERS) if os.getuid() == 0 else None,
            "harness": str(container.harness(key.harness)),
            "checkpoint": str(key.checkpoint or ""),
            "rules": dict(key.rules),
            "filter": base64.b64encode(seccomp.compiled()).decode(),
            "readable": container.readable(key),
            "listable": container.listable(),
        }

    def _start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the process.

        Args:
            command: without its last arguments: the socket, and the folders of packages.
        """
        kind = socket.SOCK_SEQPACKET if self.forks else socket.SOCK_STREAM  # which macOS lacks
        self.control, child_end = socket.socketpair(socket.AF_UNIX, kind)
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115, closed in close()
        command = [*command, str(child_end.fileno())]
        try:
            if self.key is not None:
                command += packages.folders(self.key.requirements)
                command = self.tier.container.command(self.key, command)
            self.process = subprocess.Popen(
                command,
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

    def wait_until_ready(self) -> None:
        """Wait until it has imported torch.

        Raises:
            WorkerStartError: it does not start.
        """
        if self.is_ready:
            return
        try:
            message = self.receive(START_DEADLINE)
        except ServerLostError as error:
            raise WorkerStartError(self._explain(str(error))) from error
        if "ready" not in message:
            raise WorkerStartError(self._outside(str(message.get("fault")))[:500])
        self.is_ready = True

    def _explain(self, error: str) -> str:
        """Return why it does not start, with the last line that it or its container wrote."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        self.errors.seek(0)
        output = self.errors.read(2000).decode("utf-8", "replace").strip().split("\n")[-1]
        why = self.tier.container.why(output)
        return why or f"the sandbox does not start: {error}: {output}"

    def _outside(self, text: str) -> str:
        """Return a text with the paths that its files have outside of the container."""
        container = self.tier.container
        if self.key is not None:
            text = text.replace(str(container.harness(self.key.harness)), str(self.key.harness))
        return text.replace(str(container.worker), str(NoContainer.worker))

    # --- jobs -----------------------------------------------------------------------------------

    def settle(self) -> None:
        """Take note if the child has ended since its last job."""
        if self.is_busy and select.select([self.control], [], [], 0)[0]:
            self.report()

    def begin(self, job: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        """Give a job to the child, or to a new one if there is none."""
        is_first = self.forks and not self.is_busy
        self.is_busy = True
        self.send({**job, "is_first": is_first}, descriptors)

    def report(self, deadline: float = 0) -> dict[str, Any]:
        """Return the process's report that the child has ended, or why none could begin.

        Raises:
            ServerLostError: there is none in time, in an isolating tier.
        """
        self.is_busy = False
        self.loaded = None
        if self.forks:
            try:
                return self.receive(deadline)
            except ServerLostError:
                if self.tier.isolates:
                    raise
        self.close()  # without isolation, the submission may have ended it
        return {"ended": True}

    def end_child(self) -> dict[str, Any]:
        """Have the child killed, and return the report of that.

        Raises:
            ServerLostError: there is none in time.
        """
        if self.forks:
            self.send({"kill": True})
        else:
            self.process.kill()
        return self.report(KILL_DEADLINE)

    def close(self) -> None:
        """End the process, and everything in its container."""
        if self.is_closed:
            return
        self.is_closed = True
        self.control.close()  # then it exits, with its child
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0 if self.is_ready else 0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.errors.close()
        with contextlib.suppress(OSError):
            scratch.empty(self.folder.name)  # which may be deeper than `cleanup` can go
        self.folder.cleanup()


class _Servers:
    """A pool of idle servers; if none is idle, a new one is started."""

    def __init__(self) -> None:
        self.idle: defaultdict[tuple[str, ServerKey | None], list[Server]] = defaultdict(list)

    def start(self, tier: str) -> None:
        """Have one be idle, so that it imports torch before it is needed."""
        self.idle[tier, None].append(self.take(tier))

    def take(self, tier: str, key: ServerKey | None = None) -> Server:
        """Return a server that nobody else is using."""
        with contextlib.suppress(IndexError):
            while True:
                server = self.idle[tier, key].pop()  # in one step, whatever other threads do
                if server.process.poll() is None:
                    return server
                server.close()
        return Server(tier, key)

    def give_back(self, server: Server) -> None:
        """Keep a server for the next submission, once its child has ended."""
        try:
            if server.is_busy:
                server.end_child()
        except ServerLostError:
            server.close()
        if not server.is_closed:
            self.idle[server.tier.name, server.key].append(server)

    def close(self) -> None:
        """Close all idle servers."""
        for servers in list(self.idle.values()):
            while servers:
                servers.pop().close()


SERVERS = _Servers()
atexit.register(SERVERS.close)
