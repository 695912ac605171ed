"""A grading slot: a zygote, in a container or without one, and the jobs it is given. Trusted side.

A slot outlives a submission, so that torch is imported once. Whatever is wrong with it (it dies, is
silent, says what it should not) is SlotError; the slot is then killed with all that is in it.

Covered: deadlines are kept here, by this process's clock, and a job's end is the kernel's word as
the zygote read_fd it. Not covered: a submission that got hold of the zygote could lie about both;
lockdown.py is what stands against that.
"""

import base64
import contextlib
import json
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from grader.sandbox import bubblewrap, seccomp
from grader.sandbox.interface import (
    START_DEADLINE,
    Printed,
    Progress,
    WorkerStartError,
    clock,
)
from grader.sandbox.job import Ended, Job, SlotError, SlotKey
from grader.sandbox.memory import of_size, read_all, sealed
from grader.worker.reply_buffer import BEGUN, DONE, TOTAL, ReplyBuffer, size

KILLED_WITHIN = 5.0  # seconds that the zygote gets to report a child that it was told to kill
LOOK_EVERY = 0.02  # seconds between looks at the counters
FIRST_USER = 1_000_000_000  # of the user ids that slots take, far above those that people have
SLOTS = 64  # of one process
MAX_MESSAGE = 1 << 16


class Slot:
    """A zygote and what belongs to it."""

    users = iter(range(FIRST_USER + os.getpid() * SLOTS, 1 << 31))

    def __init__(self, key: SlotKey) -> None:
        """Start a zygote; it imports torch while the caller goes on.

        Raises:
            WorkerStartError: the machine lacks something; the message says what.
        """
        self.key = key
        if not sys.platform.startswith("linux"):
            raise WorkerStartError("the tiers `contained` and `locked` need Linux")
        compiled = seccomp.compiled()
        self.folder = tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True)
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.complaints = tempfile.TemporaryFile()  # noqa: SIM115, closed in close()
        try:
            self.process = self.start(theirs)
        except BaseException:
            for opened in (self.control, self.complaints):
                opened.close()
            self.folder.cleanup()
            raise
        finally:
            theirs.close()
        self.ready = False
        self.send(
            {
                "user": next(self.users) if os.getuid() == 0 else None,
                "checkpoint": str(key.checkpoint),
                "lock": key.lock,
                "filter": base64.b64encode(compiled).decode(),
                "readable": bubblewrap.readable(key.checkpoint),
            }
        )

    def start(self, theirs: socket.socket) -> "subprocess.Popen[bytes]":
        """Start the process."""
        contained, harness = self.key.contained, self.key.harness
        worker = bubblewrap.WORKER_INSIDE if contained else bubblewrap.WORKER
        command = [sys.executable, "-I", "-B", str(worker / "zygote.py"), str(theirs.fileno())]
        command += [str(bubblewrap.HARNESS_INSIDE if contained else harness)]
        scratch = "/tmp" if contained else self.folder.name
        if not contained:
            os.chmod(scratch, 0o777)  # the zygote may become another user
        environment = {
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            # torch._dynamo wants a user and a place for files
            **dict.fromkeys(("HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR"), scratch),
            "USER": "student",
        }
        if contained:
            command = bubblewrap.command(self.key.checkpoint, harness, command)
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self.complaints,
            stderr=self.complaints,
            cwd="/",
            env=environment,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )

    # --- talking with the zygote --------------------------------------------------------------

    def send(self, message: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send the zygote a message, with descriptors for its child."""
        with contextlib.suppress(OSError):  # that it has died shows when it does not answer
            socket.send_fds(self.control, [json.dumps(message).encode()], list(descriptors))

    def receive(self, deadline: float) -> dict[str, Any]:
        """Wait for a message of the zygote."""
        ready, _, _ = select.select([self.control], [], [], max(0.0, deadline))
        if not ready:
            raise SlotError("the zygote is silent")
        try:
            text = self.control.recv(MAX_MESSAGE)
            message = json.loads(text) if text else None
        except (OSError, ValueError) as error:
            raise SlotError(f"the zygote is not understood: {error}") from error
        if not isinstance(message, dict):
            raise SlotError("the zygote has died")
        return message

    def wait_until_ready(self) -> None:
        """Wait until torch is imported.

        Raises:
            WorkerStartError: the zygote does not start.
        """
        if self.ready:
            return
        try:
            message = self.receive(START_DEADLINE)
        except SlotError as error:
            raise WorkerStartError(self.explain(str(error))) from error
        if "ready" not in message:
            raise WorkerStartError(str(message.get("fault"))[:500])
        self.ready = True

    def explain(self, error: str) -> str:
        """Add what the container said to the reason why nothing starts."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        self.complaints.seek(0)
        said = self.complaints.read(2000).decode("utf-8", "replace").strip().split("\n")[-1]
        if self.key.contained and said.startswith("bwrap:"):
            return f"no container can be had ({said}); the tier `locked` does without namespaces"
        return f"the sandbox does not start: {error}: {said}"

    # --- jobs -----------------------------------------------------------------------------------

    def run(self, job: Job, printed: Printed, progress: Progress) -> Ended:
        """Have a job carried out, and see to it that it ends.

        Raises:
            SlotError: the slot is lost. WorkerStartError: the child cannot be locked down.
        """
        self.wait_until_ready()
        length = size(len(job.deadlines) - 1, job.limits.reply_bytes)
        requests, answers = sealed(job.content), of_size(length)
        read_fd, write_fd = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(write_fd, True)
        try:
            reply_buffer = ReplyBuffer(mmap.mmap(answers, length), job.limits.reply_bytes)
            self.send(self.order(job), [requests, answers, write_fd])
        finally:
            for descriptor in (requests, answers, write_fd):
                os.close(descriptor)
        try:
            return self.watch(job, reply_buffer, read_fd, printed, progress)
        finally:
            read_all(read_fd, printed)
            os.close(read_fd)

    def order(self, job: Job) -> dict[str, Any]:
        """Return the message that starts a job."""
        return {
            "calls": len(job.deadlines) - 1,
            "torch_threads": job.threads,
            "reply": job.limits.reply_bytes,
            "memory": job.limits.memory_bytes,
            "seconds": (job.together + 1) * max(1, job.threads),
            "files": job.limits.files,
            "threads": job.limits.threads,
        }

    def watch(
        self,
        job: Job,
        reply_buffer: ReplyBuffer,
        read_fd: int,
        printed: Printed,
        progress: Progress,
    ) -> Ended:
        """Wait for a job's end: its own, or the one that a deadline brings."""
        at, since, done = 0, clock(), 0
        ends = since + job.together
        while True:
            now = clock()
            if now > ends or now - since > job.deadlines[at]:
                late = job.together if now > ends else job.deadlines[at]
                return self.ended(self.kill_job(), reply_buffer, late)
            control = self.control.fileno()
            ready, _, _ = select.select([control, read_fd], [], [], LOOK_EVERY)
            if read_fd in ready:
                read_all(read_fd, printed)
            if control in ready:
                return self.ended(self.receive(0), reply_buffer, None)
            if at < (claimed := min(reply_buffer.get(BEGUN), len(job.deadlines) - 1)):
                at, since = claimed, clock()
            if done != (done := min(reply_buffer.get(DONE), 10**9)):
                progress(done, max(1, min(reply_buffer.get(TOTAL), 10**9)))

    def kill_job(self) -> dict[str, Any]:
        """Have the child killed."""
        self.send({"kill": True})
        return self.receive(KILLED_WITHIN)

    @staticmethod
    def ended(message: Mapping[str, Any], reply_buffer: ReplyBuffer, late: float | None) -> Ended:
        """Read the zygote's report."""
        if "fault" in message:
            raise WorkerStartError(f"a child cannot be locked down: {str(message['fault'])[:500]}")
        status, seconds = message.get("ended"), message.get("seconds")
        if type(status) is not int or not isinstance(seconds, int | float):
            raise SlotError("the zygote is not understood")
        return Ended(reply_buffer, status, late, float(seconds))

    def close(self) -> None:
        """End the zygote and everything in its container."""
        self.control.close()  # a zygote without one ends, with its child
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.complaints.close()
        self.folder.cleanup()
