"""Run a job: the import of a submission and calls, in a worker's child. Trusted side.

A job and its answers are carried by a memory file, what it prints by a pipe.

Covered: see reply_buffer.py (size) and, for the isolating tiers, bubblewrap.py (which files,
processes and network exist), lockdown.py and seccomp.py (what the child may do). Deadlines are
enforced here, by this process's clock. In the isolating tiers, concurrent single-threaded jobs, of
all graders on the machine, run on different cores, as long as there are enough, and nothing that
one exercise leaves behind reaches another.
Not covered: calls in one batch share a process, so an answer may depend on the calls before it; in
`process`, so do all calls. Answers are untrusted: they only count if they equal a reference, or
labels.
"""

import contextlib
import fcntl
import mmap
import os
import random
import select
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tensormark.sandbox import answers
from tensormark.sandbox.interface import (
    Answers,
    CapturedOutput,
    Progress,
    Reply,
    ServerLostError,
    WorkerHungError,
    WorkerJob,
    WorkerLostError,
    WorkerStartError,
    clock,
)
from tensormark.sandbox.server import Server
from tensormark.worker import protocol
from tensormark.worker.reply_buffer import BEGUN, CALL_ENDS, DONE, TOTAL, ReplyBuffer, size

POLL_INTERVAL = 0.02  # seconds between looks at the counters
DISCARD_INTERVAL = 0.05  # seconds; emptying a flooded pipe this often costs the grader little
MAX_STEPS = 10**9  # of a training, which a worker claims
PIPE = 1 << 20  # bytes of a pipe for printed output, an ordinary user's maximum
ENDED = "ended the process that graded it"


def memory_file(length: int) -> int:
    """Return an empty memory file of a length that stays."""
    descriptor = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, length)
    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def temporary_file(length: int) -> int:
    """Return an empty file of a length, where there are no memory files."""
    with tempfile.TemporaryFile() as file:
        file.truncate(length)
        return os.dup(file.fileno())


@contextlib.contextmanager
def core_for(threads: int) -> Iterator[int | None]:
    """Reserve a core, or share one if none is free; None for several threads."""
    if threads != 1:
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
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        # this user already has too many large pipes, or the system has one size
        with contextlib.suppress(OSError, AttributeError):
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
            with contextlib.suppress(BlockingIOError):
                os.read(self.reader, PIPE)

    def close(self) -> None:
        """Read what was printed at the end, and close the pipe."""
        self.read()
        os.close(self.reader)


def run_job(server: Server, job: WorkerJob, progress: Progress) -> Answers:
    """Run a job until it ends, is killed, or has answered everything.

    The submission is not imported again if the server's child has done so.

    Raises:
        WorkerStartError: it cannot, which is not the submission's fault. ServerLostError: the
            server has died, likewise.
    """
    first = 1 if server.loaded is job.program.sources else 0  # the step to begin with
    frames = [
        protocol.encode(job.message(place), step.tensors)
        for place, step in enumerate(job.steps)
        if place >= first
    ]
    with (
        core_for(job.program.threads if server.tier.isolates else 0) as core,
        contextlib.closing(OutputPipe()) as output,
        contextlib.closing(_begin(server, job, frames, core, output)) as memory,
    ):
        buffer = ReplyBuffer(memory, job.reply_bytes)
        cause = _watch(server, job, buffer, output, progress, first)

        def read(place: int) -> Reply:
            if place < first:
                return Reply("ok")
            frame = buffer.read(place)
            if frame is None:
                raise cause
            return answers.reply_in(frame, place, job.steps[place].tensor_names)

        replies = job.replies(read)
    if server.is_busy:
        _keep(server, job, replies)
    return Answers(replies, [b""] * first + output.printed.content.split(CALL_ENDS))


def _keep(server: Server, job: WorkerJob, replies: Sequence[Reply]) -> None:
    """Keep a child for the next job, unless a call was lost.

    Raises:
        WorkerStartError: it cannot forbid what the assignment forbids.
    """
    if "refused" in replies[0].message:
        raise WorkerStartError(replies[0].message["refused"])
    if replies[-1].status == "lost":
        server.end_child()
    elif replies[0].status == "ok":
        server.loaded = job.program.sources


def _begin(
    server: Server, job: WorkerJob, frames: Sequence[bytes], core: int | None, output: OutputPipe
) -> mmap.mmap:
    """Start a job; return its memory: for the answers, with the requests behind them.

    Raises:
        OSError: there is no room for the requests.
    """
    limits = job.program.limits
    threads = job.program.threads
    order: dict[str, Any] = {
        "calls": len(job.steps) - 1,
        "requests": list(map(len, frames)),
        "torch_threads": threads,
        "reply": job.reply_bytes,
        "harness": str(job.program.harness),
        "limits": {
            "core": core,
            "memory": limits.memory_bytes,
            "seconds": (job.seconds + 1) * max(1, threads),
            "files": limits.files,
            "threads": limits.threads,
        },
    }
    begin = size(len(job.steps) - 1, job.reply_bytes)
    length = begin + sum(order["requests"])
    file = memory_file if server.forks else temporary_file
    descriptors = [file(length), output.writer]
    try:
        # not through the memory: where a disk is full, a signal would end this process
        with open(descriptors[0], "r+b", closefd=False) as requests:
            requests.seek(begin)
            requests.writelines(frames)
        memory = mmap.mmap(descriptors[0], length)
        server.begin(order, descriptors)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    return memory


def _watch(
    server: Server,
    job: WorkerJob,
    buffer: ReplyBuffer,
    output: OutputPipe,
    progress: Progress,
    place: int,
) -> WorkerLostError:
    """Wait until a job ends or has answered everything; kill it at a deadline.

    In an isolating tier, also kill it once it has answered everything.

    Args:
        place: of the step that it begins with.

    Returns: why there is no answer where one is missing, worded for the student.
    """
    last = len(job.steps) - 1
    since = clock()
    end = since + job.seconds
    control = server.control.fileno()
    while True:
        now = clock()
        deadline = job.steps[place].deadline
        if now > end or now - since > deadline:
            exceeded = job.seconds if now > end else deadline
            _cause(server.end_child())
            return WorkerHungError(f"took longer than {round(exceeded, 1):g} seconds")
        ready, _, _ = select.select([control, *output.streams], [], [], POLL_INTERVAL)
        output.read()
        if control in ready:
            return _cause(server.report())
        if buffer.complete(last):
            return _cause(server.end_child()) if server.tier.isolates else WorkerLostError(ENDED)
        claimed = min(buffer.get(BEGUN), last)
        if claimed > place:
            place = claimed
            since = clock()
        done = min(buffer.get(DONE), MAX_STEPS)
        progress(job.steps[place].target, done, min(max(buffer.get(TOTAL), 1), MAX_STEPS))


def _cause(report: Mapping[str, Any]) -> WorkerLostError:
    """Return what ended a child, worded for the student, by the server's report.

    Raises:
        ServerLostError: the child died before its job. WorkerStartError: no child can be isolated.
    """
    if "fault" in report:
        raise WorkerStartError(str(report["fault"])[:500])
    if "ended" not in report:
        raise ServerLostError("a child died before it got its job")
    return WorkerLostError(ENDED)
