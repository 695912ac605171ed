"""The fork server of an isolating tier, with or without a container, and its jobs. Trusted side.

It outlives a submission, so torch is imported only once. Any problem with it (it dies, does not
respond, sends an invalid message) is a ServerLostError; it is then killed with everything in it. A
job and its answers are carried by memory files and pipes.

Covered: deadlines are enforced here, by this process's clock, and a job's exit status is what the
kernel reported to the server. Concurrent single-threaded jobs, of all graders on the machine, run
on different cores, as long as there are enough. Not covered: a submission that has taken over the
server can lie about the exit status; lockdown.py is the defence against that.
"""

import base64
import contextlib
import dataclasses
import fcntl
import mmap
import os
import random
import select
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tensormark.sandbox import bubblewrap, packages, seccomp
from tensormark.sandbox.bubblewrap import ServerKey
from tensormark.sandbox.fork_server import ForkServer, ServerLostError
from tensormark.sandbox.interface import (
    START_DEADLINE,
    CapturedOutput,
    Limits,
    Progress,
    WorkerStartError,
    clock,
)
from tensormark.sandbox.worker_process import new_folder, variables
from tensormark.worker.reply_buffer import BEGUN, DONE, TOTAL, ReplyBuffer, size

KILL_DEADLINE = 30.0  # seconds for the server to report that it has killed the child
POLL_INTERVAL = 0.02  # seconds between looks at the counters
DISCARD_INTERVAL = 0.05  # seconds; emptying a flooded pipe this often costs the grader little
FIRST_USER = 1_000_000_000  # the first of the servers' user ids, far above those of real users
SERVERS = 64  # per process
PIPE = 1 << 20  # bytes of a pipe for printed output, an ordinary user's maximum


def request_file(content: bytes) -> int:
    """Return a memory file with a job's requests, sealed against changes."""
    descriptor = os.memfd_create("requests", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def answer_file(length: int) -> int:
    """Return an empty memory file for answers, sealed against resizing."""
    descriptor = os.memfd_create("answers", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, length)
    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def output_pipe() -> tuple[int, int]:
    """Return the ends of a pipe for printed output; reading from it never waits."""
    read_fd, write_fd = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    os.set_blocking(write_fd, True)
    with contextlib.suppress(OSError):  # this user already has too many large pipes
        fcntl.fcntl(read_fd, fcntl.F_SETPIPE_SZ, PIPE)
    return read_fd, write_fd


def discard(descriptor: int) -> None:
    """Empty a pipe without copying its contents."""
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.splice(descriptor, null, PIPE, flags=os.SPLICE_F_NONBLOCK)
    except BlockingIOError:  # it is empty
        pass
    finally:
        os.close(null)


def read_chunk(descriptor: int, printed: CapturedOutput) -> bool:
    """Read one chunk if there is one; say whether more may come."""
    try:
        chunk = os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return True
    printed.take(chunk)
    return bool(chunk)


@contextlib.contextmanager
def core_for(threads: int) -> Iterator[int | None]:
    """Reserve a core, or share one if none is free; None for several threads."""
    if threads > 1:
        yield None
        return
    cores = sorted(os.sched_getaffinity(0))
    random.shuffle(cores)
    with contextlib.ExitStack() as sockets:
        for core in cores:
            name = sockets.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):  # another job has it
                name.bind(f"\0grader-core-{core}")
                yield core
                return
        yield cores[0]


@dataclasses.dataclass(frozen=True)
class Job:
    """The work of one child.

    Attributes:
        content: the frames of its requests, the import first.
        deadlines: seconds for each request; together: seconds for all of them.
    """

    content: bytes
    deadlines: Sequence[float]
    together: float
    threads: int
    limits: Limits


@dataclasses.dataclass(frozen=True)
class Ending:
    """How a job ended.

    Attributes:
        status: the exit status, or minus the number of the signal that ended it.
        exceeded: the deadline in seconds at which it had to be ended, if any.
    """

    answers: ReplyBuffer
    status: int
    exceeded: float | None


class IsolatedServer(ForkServer):
    """The process, and the jobs that it is given."""

    users = iter(range(FIRST_USER + os.getpid() * SERVERS, 1 << 31))

    def __init__(self, key: ServerKey) -> None:
        """Start it; it imports torch in the background.

        Raises:
            WorkerStartError: the machine lacks something; the message says what.
        """
        self.key = key
        if not sys.platform.startswith("linux"):
            raise WorkerStartError("the tiers `contained` and `locked` need Linux")
        compiled = seccomp.compiled()
        self.folder = new_folder()
        if not key.contained:
            os.chmod(self.folder.name, 0o777)  # the process may switch to another user
        scratch = "/tmp" if key.contained else self.folder.name
        self._start(self._command, {"PATH": "/usr/bin:/bin", **variables(1, scratch)})
        self.ready = False
        self.send(
            {
                "user": next(self.users) if os.getuid() == 0 else None,
                "harness": str(bubblewrap.HARNESS_INSIDE if key.contained else key.harness),
                "checkpoint": str(key.checkpoint or ""),
                "rules": dict(key.rules),
                "filter": base64.b64encode(compiled).decode(),
                "readable": bubblewrap.readable(key),
                "listable": bubblewrap.listable(key.contained),
            }
        )

    def _command(self, descriptor: int) -> list[str]:
        """Return the command line of the process."""
        contained = self.key.contained
        worker = bubblewrap.WORKER_INSIDE if contained else bubblewrap.WORKER
        command = [sys.executable, "-I", "-B", str(worker / "fork_server.py"), str(descriptor)]
        command += packages.folders(self.key.requirements)
        return bubblewrap.command(self.key, command) if contained else command

    def wait_until_ready(self) -> None:
        """Wait until it has imported torch.

        Raises:
            WorkerStartError: it does not start.
        """
        if self.ready:
            return
        try:
            message = self.receive(START_DEADLINE)
        except ServerLostError as error:
            raise WorkerStartError(self._explain(str(error))) from error
        if "ready" not in message:
            raise WorkerStartError(self._outside(str(message.get("fault")))[:500])
        self.ready = True

    def _explain(self, error: str) -> str:
        """Return why it does not start, with the last line that it or bubblewrap wrote."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            assert self.process is not None
            self.process.wait(1)
        self.errors.seek(0)
        output = self.errors.read(2000).decode("utf-8", "replace").strip().split("\n")[-1]
        if self.key.contained and output.startswith("bwrap:"):
            return f"cannot create a container ({output}); the tier `locked` does not need one"
        return f"the sandbox does not start: {error}: {output}"

    def _outside(self, text: str) -> str:
        """Return a text with the paths that its files have outside of the container."""
        text = text.replace(str(bubblewrap.HARNESS_INSIDE), str(self.key.harness))
        return text.replace(str(bubblewrap.WORKER_INSIDE), str(bubblewrap.WORKER))

    # --- jobs -----------------------------------------------------------------------------------

    def run(self, job: Job, printed: CapturedOutput, progress: Progress) -> Ending:
        """Run a job until it ends or is killed; the server must be ready.

        Raises:
            ServerLostError: the server is lost. WorkerStartError: the child cannot be locked down.
        """
        with core_for(job.threads) as core:
            reply_buffer, read_fd = self._begin(job, core)
            try:
                return self._watch(job, reply_buffer, read_fd, printed, progress)
            finally:
                read_chunk(read_fd, printed)
                os.close(read_fd)

    def _begin(self, job: Job, core: int | None) -> tuple[ReplyBuffer, int]:
        """Start a job; return the buffer for its answers, and the pipe for its printed output."""
        length = size(len(job.deadlines) - 1, job.limits.reply_bytes)
        requests = request_file(job.content)
        answers = answer_file(length)
        read_fd, write_fd = output_pipe()
        try:
            reply_buffer = ReplyBuffer(mmap.mmap(answers, length), job.limits.reply_bytes)
            self.send(self._order(job, core), [requests, answers, write_fd])
        finally:
            for descriptor in (requests, answers, write_fd):
                os.close(descriptor)
        return reply_buffer, read_fd

    def _order(self, job: Job, core: int | None) -> dict[str, Any]:
        """Return the message that starts a job."""
        return {
            "calls": len(job.deadlines) - 1,
            "torch_threads": job.threads,
            "core": core,
            "reply": job.limits.reply_bytes,
            "memory": job.limits.memory_bytes,
            "seconds": (job.together + 1) * max(1, job.threads),
            "files": job.limits.files,
            "threads": job.limits.threads,
        }

    def _watch(
        self,
        job: Job,
        reply_buffer: ReplyBuffer,
        read_fd: int,
        printed: CapturedOutput,
        progress: Progress,
    ) -> Ending:
        """Wait until a job ends; kill it at a deadline, or once it has answered everything."""
        slot = 0
        since = clock()
        steps = 0
        last_slot = len(job.deadlines) - 1
        discarded = 0.0
        control = self.control.fileno()
        streams = [read_fd]
        end = since + job.together
        while True:
            now = clock()
            if now > end or now - since > job.deadlines[slot]:
                exceeded = job.together if now > end else job.deadlines[slot]
                return self._ending(self._kill_job(), reply_buffer, exceeded)
            ready, _, _ = select.select([control, *streams], [], [], POLL_INTERVAL)
            if read_fd in ready and (printed.full or not read_chunk(read_fd, printed)):
                streams.clear()  # a stream that has ended, or never ends, is always ready
            if printed.full and now - discarded > DISCARD_INTERVAL:
                discard(read_fd)
                discarded = now
            if control in ready:
                return self._ending(self.receive(0), reply_buffer, None)
            if reply_buffer.complete(last_slot):
                return self._ending(self._kill_job(), reply_buffer, None)
            claimed = min(reply_buffer.get(BEGUN), last_slot)
            if claimed > slot:
                slot = claimed
                since = clock()
            done = min(reply_buffer.get(DONE), 10**9)
            if done != steps:
                steps = done
                progress(steps, max(1, min(reply_buffer.get(TOTAL), 10**9)))

    def _kill_job(self) -> dict[str, Any]:
        """Kill the child; return the server's report."""
        self.send({"kill": True})
        return self.receive(KILL_DEADLINE)

    @staticmethod
    def _ending(
        message: Mapping[str, Any], reply_buffer: ReplyBuffer, exceeded: float | None
    ) -> Ending:
        """Read the server's report."""
        if "died" in message:
            raise ServerLostError("a child died before it got its job")
        if "fault" in message:
            raise WorkerStartError(f"a child cannot be locked down: {str(message['fault'])[:500]}")
        status = message.get("ended")
        if type(status) is not int:
            raise ServerLostError("invalid message from the fork server")
        return Ending(reply_buffer, status, exceeded)
