"""Run a submission's calls in forked, locked-down processes: the tiers `contained` and `locked`.

A fork server, in a container or without one, has imported torch and outlives a submission. Each
task, and each batch of calls of one exercise, gets its own child process: it imports the
submission, answers the calls in order and exits.

A job and its answers are carried by memory files and a pipe. Any problem with the server (it dies,
does not respond, sends an invalid message) is a ServerLostError; it is then killed with everything
in it.

Covered: see the modules it builds on: bubblewrap.py (which files, processes and network exist),
lockdown.py and seccomp.py (what the child may do), reply_buffer.py (size). Deadlines are enforced
here, by this process's clock, and a job's exit status is what the kernel reported to the server.
Concurrent single-threaded jobs, of all graders on the machine, run on different cores, as long as
there are enough. Nothing that one exercise leaves behind reaches another.
Not covered: calls in one batch share a process, so an answer may depend on the calls before it.
Answers are untrusted: they only count if they equal a reference, or labels. A submission that has
taken over the server can lie about the exit status; lockdown.py is the defence against that.
"""

import atexit
import base64
import contextlib
import fcntl
import mmap
import os
import random
import select
import signal
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.sandbox import answers, bubblewrap, packages, seccomp
from tensormark.sandbox.bubblewrap import ServerKey
from tensormark.sandbox.fork_server import ForkServer
from tensormark.sandbox.interface import (
    START_DEADLINE,
    Answers,
    CapturedOutput,
    Job,
    Program,
    Progress,
    Reply,
    Request,
    Sandbox,
    ServerLostError,
    WorkerHungError,
    WorkerLostError,
    WorkerStartError,
    clock,
)
from tensormark.sandbox.worker_process import PYTHON, new_folder, variables
from tensormark.worker import protocol
from tensormark.worker.reply_buffer import BEGUN, CALL_ENDS, DONE, TOTAL, ReplyBuffer, size

KILL_DEADLINE = 30.0  # seconds for the server to report that it has killed the child
POLL_INTERVAL = 0.02  # seconds between looks at the counters
DISCARD_INTERVAL = 0.05  # seconds; emptying a flooded pipe this often costs the grader little
FIRST_USER = 1_000_000_000  # the first of the servers' user ids, far above those of real users
MAX_SERVERS = 64  # per process
# on Ubuntu from 24.04 on
SYSCTL = "kernel.apparmor_restrict_unprivileged_userns"
RESTRICTED = Path("/proc/sys", *SYSCTL.split("."))
PIPE = 1 << 20  # bytes of a pipe for printed output, an ordinary user's maximum


def memory_file(content: bytes = b"", length: int = 0) -> int:
    """Return a sealed memory file: with content that stays, or empty and of a length that stays."""
    descriptor = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    if content:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        seals |= fcntl.F_SEAL_WRITE
    else:
        os.ftruncate(descriptor, length)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


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


class OutputPipe:
    """A pipe for what a job prints: the beginning is kept, and the rest discarded.

    Attributes:
        reader, writer: its ends; reading never waits.
        streams: the reader, as long as it is worth waiting for more.
    """

    def __init__(self) -> None:
        self.printed = CapturedOutput()
        self.reader, self.writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(self.writer, True)
        with contextlib.suppress(OSError):  # this user already has too many large pipes
            fcntl.fcntl(self.reader, fcntl.F_SETPIPE_SZ, PIPE)
        self.streams = [self.reader]
        self.discarded = 0.0

    def read(self) -> None:
        """Read what has been printed; once enough is kept, discard the rest now and then."""
        if not self.printed.full:
            with contextlib.suppress(BlockingIOError):
                chunk = os.read(self.reader, 1 << 16)
                self.printed.take(chunk)
                if not chunk or self.printed.full:
                    self.streams = []  # a stream that has ended, or never ends, is always ready
        elif clock() - self.discarded > DISCARD_INTERVAL:
            self.discarded = clock()
            with contextlib.suppress(BlockingIOError), open(os.devnull, "wb") as null:
                os.splice(self.reader, null.fileno(), PIPE, flags=os.SPLICE_F_NONBLOCK)

    def close(self) -> None:
        """Read what was printed at the end, and close the pipe."""
        self.read()
        os.close(self.reader)


class IsolatedServer(ForkServer):
    """The fork server, and the jobs that it is given."""

    users = iter(range(FIRST_USER + os.getpid() * MAX_SERVERS, 1 << 31))

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
        command = [*PYTHON, str(worker / "fork_server.py"), str(descriptor)]
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
            fix = "the tier `locked` does not need one"
            if RESTRICTED.exists() and RESTRICTED.read_text(encoding="ascii").strip() == "1":
                fix = f"AppArmor allows it to root only, or after `sysctl {SYSCTL}=0`; {fix}"
            return f"cannot create a container ({output}); {fix}"
        return f"the sandbox does not start: {error}: {output}"

    def _outside(self, text: str) -> str:
        """Return a text with the paths that its files have outside of the container."""
        text = text.replace(str(bubblewrap.HARNESS_INSIDE), str(self.key.harness))
        return text.replace(str(bubblewrap.WORKER_INSIDE), str(bubblewrap.WORKER))

    # --- jobs -----------------------------------------------------------------------------------

    def run(self, job: Job, progress: Progress) -> Answers:
        """Run a job until it ends or is killed; see `Worker`."""
        frames = [
            protocol.encode(job.message(place), step.tensors)
            for place, step in enumerate(job.steps)
        ]
        with (
            core_for(job.program.threads) as core,
            contextlib.closing(OutputPipe()) as output,
            contextlib.closing(self._begin(job, frames, core, output)) as memory,
        ):
            buffer = ReplyBuffer(memory, job.reply_bytes)
            cause = self._watch(job, buffer, output, progress)

            def read(place: int) -> Reply:
                try:
                    frame = buffer.read(place)
                except protocol.ProtocolError as error:
                    raise answers.lost_by(error) from error
                if frame is None:
                    raise cause
                return answers.reply_in(frame, place, job.steps[place].tensor_names)

            replies = job.replies(read)
        return Answers(replies, output.printed.content.split(CALL_ENDS))

    def _begin(
        self, job: Job, frames: Sequence[bytes], core: int | None, output: OutputPipe
    ) -> mmap.mmap:
        """Start a job; return the memory for its answers."""
        length = size(len(job.steps) - 1, job.reply_bytes)
        descriptors = [memory_file(b"".join(frames)), memory_file(length=length), output.writer]
        try:
            memory = mmap.mmap(descriptors[1], length)
            self.send(self._order(job, core), descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return memory

    def _order(self, job: Job, core: int | None) -> dict[str, Any]:
        """Return the message that starts a job."""
        limits = job.program.limits
        threads = job.program.threads
        return {
            "calls": len(job.steps) - 1,
            "torch_threads": threads,
            "reply": job.reply_bytes,
            "limits": {
                "core": core,
                "memory": limits.memory_bytes,
                "seconds": (job.seconds + 1) * max(1, threads),
                "files": limits.files,
                "threads": limits.threads,
            },
        }

    def _watch(
        self, job: Job, buffer: ReplyBuffer, output: OutputPipe, progress: Progress
    ) -> WorkerLostError:
        """Wait until a job ends; kill it at a deadline, or once it has answered everything.

        Returns: why there is no answer where one is missing, worded for the student.
        """
        place = 0
        steps = 0
        last = len(job.steps) - 1
        since = clock()
        end = since + job.seconds
        control = self.control.fileno()
        while True:
            now = clock()
            deadline = job.steps[place].deadline
            if now > end or now - since > deadline:
                exceeded = job.seconds if now > end else deadline
                _cause(self._kill_job())
                return WorkerHungError(f"took longer than {round(exceeded, 1):g} seconds")
            ready, _, _ = select.select([control, *output.streams], [], [], POLL_INTERVAL)
            output.read()
            if control in ready:
                return _cause(self.receive(0))
            if buffer.complete(last):
                return _cause(self._kill_job())
            claimed = min(buffer.get(BEGUN), last)
            if claimed > place:
                place = claimed
                since = clock()
            done = buffer.get(DONE)
            if done != steps:
                steps = done
                progress(*answers.as_progress([done, buffer.get(TOTAL)]))

    def _kill_job(self) -> dict[str, Any]:
        """Kill the child; return the server's report."""
        self.send({"kill": True})
        return self.receive(KILL_DEADLINE)


def _cause(report: Mapping[str, Any]) -> WorkerLostError:
    """Return what ended a child, worded for the student, by the server's report.

    Raises:
        ServerLostError: the child died before its job. WorkerStartError: no child can be isolated.
    """
    if "fault" in report:
        raise WorkerStartError(f"a child cannot be locked down: {str(report['fault'])[:500]}")
    status = report.get("ended")
    if type(status) is not int:
        raise ServerLostError("a child died before it got its job")
    name = ""
    if status < 0:
        with contextlib.suppress(ValueError):
            name = f" (by {signal.Signals(-status).name})"
    return WorkerLostError(f"ended the process that graded it{name}")


class _Servers:
    """A pool of idle servers; if none is idle, a new one is started."""

    def __init__(self) -> None:
        self.idle: defaultdict[ServerKey, list[IsolatedServer]] = defaultdict(list)

    def take(self, key: ServerKey) -> IsolatedServer:
        """Return a server that nobody else is using."""
        try:
            return self.idle[key].pop()  # in one step, whatever other threads do
        except IndexError:
            return IsolatedServer(key)

    def give_back(self, server: IsolatedServer) -> None:
        """Keep a server for the next submission."""
        self.idle[server.key].append(server)

    def close(self) -> None:
        """Close all idle servers."""
        for servers in [*self.idle.values()]:
            while servers:
                servers.pop().close()


SERVERS = _Servers()
atexit.register(SERVERS.close)


class IsolatedSandbox(Sandbox):
    """Runs a submission's calls in the tier `contained` or `locked`."""

    isolates = True
    worker: IsolatedServer | None

    def __init__(
        self, program: Program, *, contained: bool = True, server: IsolatedServer | None = None
    ) -> None:
        """Take a server, or start one; it imports torch in the background.

        Args:
            contained: in a container; otherwise without namespaces.
            server: to use instead of one from the pool.

        Raises:
            WorkerStartError: the machine lacks something; the message says what.
        """
        super().__init__(program)
        self.import_printed = False
        checkpoint = program.checkpoint.resolve() if program.checkpoint else None
        self.key = ServerKey(
            contained,
            program.harness,
            program.requirements,
            checkpoint,
            tuple(program.rules.items()),
        )
        self.worker = server or self.take()

    def take(self) -> IsolatedServer:
        """Take a server from the pool."""
        return SERVERS.take(self.key)

    def give_back(self) -> None:
        """Give the server back to the pool."""
        if self.worker is not None:
            SERVERS.give_back(self.worker)

    def apart(self, program: Program, request: Request) -> Reply:
        """Run a call of another program, in a child of the same server.

        Raises:
            WorkerStartError: no server is available.
        """
        other = IsolatedSandbox(program, contained=self.key.contained, server=self.worker)
        try:
            (reply,) = other.run([request])
        finally:
            self.worker = other.worker  # a new one if the call lost the first
        return reply

    def attempt(self, job: Job, progress: Progress) -> Answers:
        """Run a job; what the import prints is returned the first time only."""
        answered = super().attempt(job, progress)
        if self.import_printed:
            answered.printed[0] = b""
        self.import_printed = True
        return answered
