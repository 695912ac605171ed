"""A grading slot: a zygote, with or without a container, and its jobs. Trusted side.

A slot outlives a submission, so torch is imported only once. Any problem with it (it dies, does
not respond, sends an invalid message) is a SlotError; the slot is then killed with everything in
it.

Covered: deadlines are enforced here, by this process's clock, and a job's exit status is what the
kernel reported to the zygote. Not covered: a submission that has taken over the zygote can lie
about both; lockdown.py is the defence against that.
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

from tensormark.sandbox import bubblewrap, packages, seccomp
from tensormark.sandbox.cores import core_for
from tensormark.sandbox.interface import (
    START_DEADLINE,
    CapturedOutput,
    Progress,
    WorkerStartError,
    clock,
)
from tensormark.sandbox.job import Ending, Job, SlotError, SlotKey
from tensormark.sandbox.memory import answer_file, discard, output_pipe, read_chunk, request_file
from tensormark.sandbox.worker_process import new_folder, variables
from tensormark.worker.reply_buffer import BEGUN, DONE, TOTAL, ReplyBuffer, size

KILL_DEADLINE = 30.0  # seconds for the zygote to report that it has killed the child
POLL_INTERVAL = 0.02  # seconds between looks at the counters
DISCARD_INTERVAL = 0.05  # seconds; emptying a flooded pipe this often costs the grader little
FIRST_USER = 1_000_000_000  # the first of the slots' user ids, far above those of real users
SLOTS = 64  # per process
MAX_MESSAGE = 1 << 16  # bytes of a message from the zygote


class Slot:
    """A zygote and its resources."""

    users = iter(range(FIRST_USER + os.getpid() * SLOTS, 1 << 31))

    def __init__(self, key: SlotKey) -> None:
        """Start a zygote; it imports torch in the background.

        Raises:
            WorkerStartError: the machine lacks something; the message says what.
        """
        self.key = key
        if not sys.platform.startswith("linux"):
            raise WorkerStartError("the tiers `contained` and `locked` need Linux")
        compiled = seccomp.compiled()
        self.folder = new_folder()
        self.control, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115, closed in close()
        try:
            self.process = self._start(child_end)
        except BaseException:
            for resource in (self.control, self.errors):
                resource.close()
            self.folder.cleanup()
            raise
        finally:
            child_end.close()
        self.ready = False
        self._send(
            {
                "user": next(self.users) if os.getuid() == 0 else None,
                "checkpoint": str(key.checkpoint or ""),
                "rules": dict(key.rules),
                "lock": key.lock,
                "filter": base64.b64encode(compiled).decode(),
                "readable": bubblewrap.readable(key),
                "listable": bubblewrap.listable(key.contained),
            }
        )

    def _start(self, child_end: socket.socket) -> "subprocess.Popen[bytes]":
        """Start the process."""
        contained, harness = self.key.contained, self.key.harness
        worker = bubblewrap.WORKER_INSIDE if contained else bubblewrap.WORKER
        command = [sys.executable, "-I", "-B", str(worker / "zygote.py"), str(child_end.fileno())]
        command.append(str(bubblewrap.HARNESS_INSIDE if contained else harness))
        command += packages.folders(self.key.requirements)
        scratch = "/tmp" if contained else self.folder.name
        if not contained:
            os.chmod(scratch, 0o777)  # the zygote may switch to another user
        environment = {"PATH": "/usr/bin:/bin", **variables(1, scratch)}
        if contained:
            command = bubblewrap.command(self.key, command)
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self.errors,
            stderr=self.errors,
            cwd="/",
            env=environment,
            pass_fds=[child_end.fileno()],
            start_new_session=True,
        )

    # --- talking with the zygote --------------------------------------------------------------

    def _send(self, message: Mapping[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send the zygote a message, with descriptors for its child."""
        with contextlib.suppress(OSError):  # if it has died, it will not answer
            socket.send_fds(self.control, [json.dumps(message).encode()], list(descriptors))

    def _receive(self, deadline: float) -> dict[str, Any]:
        """Wait for a message from the zygote."""
        ready, _, _ = select.select([self.control], [], [], max(0.0, deadline))
        if not ready:
            raise SlotError("the zygote does not respond")
        try:
            text = self.control.recv(MAX_MESSAGE)
            message = json.loads(text) if text else None
        except (OSError, ValueError, RecursionError) as error:
            raise SlotError(f"invalid message from the zygote: {error}") from error
        if not isinstance(message, dict):
            raise SlotError("the zygote has died")
        return message

    def wait_until_ready(self) -> None:
        """Wait until the zygote has imported torch.

        Raises:
            WorkerStartError: the zygote does not start.
        """
        if self.ready:
            return
        try:
            message = self._receive(START_DEADLINE)
        except SlotError as error:
            raise WorkerStartError(self._explain(str(error))) from error
        if "ready" not in message:
            raise WorkerStartError(self._outside(str(message.get("fault")))[:500])
        self.ready = True

    def _explain(self, error: str) -> str:
        """Return why the zygote does not start, with the last line that it or bubblewrap wrote."""
        with contextlib.suppress(subprocess.TimeoutExpired):
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
        """Run a job until it ends or is killed; the slot must be ready.

        Raises:
            SlotError: the slot is lost. WorkerStartError: the child cannot be locked down.
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
        requests, answers = request_file(job.content), answer_file(length)
        read_fd, write_fd = output_pipe()
        try:
            reply_buffer = ReplyBuffer(mmap.mmap(answers, length), job.limits.reply_bytes)
            self._send(self._order(job, core), [requests, answers, write_fd])
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
        slot, since, steps, last_slot = 0, clock(), 0, len(job.deadlines) - 1
        discarded = 0.0
        control, streams = self.control.fileno(), [read_fd]
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
                return self._ending(self._receive(0), reply_buffer, None)
            if reply_buffer.complete(last_slot):
                return self._ending(self._kill_job(), reply_buffer, None)
            claimed = min(reply_buffer.get(BEGUN), last_slot)
            if claimed > slot:
                slot, since = claimed, clock()
            done = min(reply_buffer.get(DONE), 10**9)
            if done != steps:
                steps = done
                progress(steps, max(1, min(reply_buffer.get(TOTAL), 10**9)))

    def _kill_job(self) -> dict[str, Any]:
        """Kill the child; return the zygote's report."""
        self._send({"kill": True})
        return self._receive(KILL_DEADLINE)

    @staticmethod
    def _ending(
        message: Mapping[str, Any], reply_buffer: ReplyBuffer, exceeded: float | None
    ) -> Ending:
        """Read the zygote's report."""
        if "died" in message:
            raise SlotError("a child died before it got its job")
        if "fault" in message:
            raise WorkerStartError(f"a child cannot be locked down: {str(message['fault'])[:500]}")
        status = message.get("ended")
        if type(status) is not int:
            raise SlotError("invalid message from the zygote")
        return Ending(reply_buffer, status, exceeded)

    def close(self) -> None:
        """End the zygote and everything in its container."""
        self.control.close()  # then the zygote exits, with its child
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1.0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.errors.close()
        self.folder.cleanup()
