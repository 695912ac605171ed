"""Carry out a submission's calls in a slot: the tiers `contained` and `locked`.

Each exercise has a child process of its own, and so has a task: it imports the submission,
answers the exercise's calls in order and is gone. Answers are read when it is dead.

Covered: what the modules it rests on say: bubblewrap.py (the files, processes and network that are
there at all), lockdown.py and seccomp.py (what the child may do), reply_buffer.py (size),
slot.py (time). Nothing that one exercise leaves behind reaches the next.
Not covered: the calls of one exercise share a process, so an answer may depend on the calls before
it. Answers are claims: only that they equal a reference, or labels, means anything.
"""

import atexit
import contextlib
import dataclasses
import itertools
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence

from grader.sandbox.interface import (
    FailedCalls,
    Printed,
    Program,
    Progress,
    Reply,
    Request,
    WorkerLostError,
    WorkerStartError,
    as_reply,
)
from grader.sandbox.job import Ended, Job, SlotError, SlotKey
from grader.sandbox.slot import Slot
from grader.worker import protocol


class Slots:
    """Slots that are not in use; one is started when there is none."""

    def __init__(self) -> None:
        self.idle: dict[SlotKey, list[Slot]] = {}
        self.lock = threading.Lock()

    def take(self, key: SlotKey) -> Slot:
        """Return a slot that nobody else has."""
        with self.lock:
            waiting = self.idle.get(key, [])
            if waiting:
                return waiting.pop()
        return Slot(key)

    def give_back(self, key: SlotKey, slot: Slot) -> None:
        """Keep a slot for the next submission."""
        with self.lock:
            self.idle.setdefault(key, []).append(slot)

    def close(self) -> None:
        """End all that are not in use."""
        with self.lock:
            slots = [slot for waiting in self.idle.values() for slot in waiting]
            self.idle.clear()
        for slot in slots:
            slot.close()


SLOTS = Slots()
atexit.register(SLOTS.close)


def cause(ended: Ended) -> str:
    """Say for the student what ended a child."""
    if ended.late is not None:
        return f"took longer than {ended.late:g} seconds"
    if ended.status < 0:
        with contextlib.suppress(ValueError):
            name = signal.Signals(-ended.status).name
            return f"ended the process that graded it (by {name})"
    return "ended the process that graded it"


class IsolatedSandbox:
    """Carries out a submission's calls in the tier `contained` or `locked`."""

    def __init__(self, program: Program, *, contained: bool = True, lock: bool = True) -> None:
        """Take a slot, or start one; it imports torch while the caller goes on.

        Args:
            contained: in a container; otherwise without namespaces.
            lock: False leaves the lockdown out, which only measurements want.

        Raises:
            WorkerStartError: the machine lacks something; the message says what.
        """
        self.program = program
        self.printed = Printed()
        self.unloadable: Reply | None = None
        self.failed_calls = FailedCalls()
        self.fault: WorkerStartError | None = None  # a machine that lacks something will go on so
        self.key = SlotKey(contained, program.checkpoint.resolve(), program.harness, lock)
        self.slot: Slot | None = SLOTS.take(self.key)

    def __enter__(self) -> "IsolatedSandbox":
        return self

    def __exit__(self, *raised: object) -> None:
        self.fault = WorkerStartError("the sandbox is closed")
        if self.slot is not None and not any(raised):
            SLOTS.give_back(self.key, self.slot)
        elif self.slot is not None:  # something may still be running there
            self.slot.close()
        self.slot = None

    def reload(self, sources: Mapping[str, str]) -> None:
        """Go on with other sources; there is nothing here that remembers the old ones."""
        self.program = dataclasses.replace(self.program, sources=dict(sources))
        self.unloadable, self.failed_calls = None, FailedCalls()

    def run(
        self, requests: Iterable[Request], progress: Progress = lambda done, total: None
    ) -> Iterator[Reply]:
        """Carry out calls in order, those of one exercise in one child.

        Raises:
            WorkerStartError: no slot can be had, which is not the submission's fault.
        """
        for _, batch in itertools.groupby(requests, key=lambda request: request.exercise):
            yield from self.exercise(list(batch), progress)

    def exercise(self, requests: Sequence[Request], progress: Progress) -> Iterator[Reply]:
        """Carry out the calls of one exercise; after a lost one those that do not run its code."""
        replies: dict[int, Reply] = {}
        while True:
            for place, request in enumerate(requests):
                if place not in replies and (
                    known := self.unloadable or self.failed_calls.known(request)
                ):
                    replies[place] = known
            left = [place for place in range(len(requests)) if place not in replies]
            if not left:
                break
            found = self.batch([requests[place] for place in left], progress)
            for place, reply in zip(left, found, strict=False):
                replies[place] = reply
                self.failed_calls.add(requests[place], reply)
        for place in range(len(requests)):
            yield replies[place]

    def batch(self, requests: Sequence[Request], progress: Progress) -> list[Reply]:
        """Have one child carry out calls; return the replies up to the first lost one."""
        ended = self.attempt(self.job(requests), progress)
        try:
            loaded = self.reply(ended, 0)
        except WorkerLostError as error:
            loaded = Reply("lost", f"importing {self.program.main_file} {error}")
        if loaded.status != "ok":
            self.unloadable = loaded
            return []
        replies: list[Reply] = []
        for slot, request in enumerate(requests, start=1):
            try:
                replies.append(self.reply(ended, slot))
            except WorkerLostError as error:
                return [*replies, Reply("lost", f"{request.target} {error}")]
        return replies

    def job(self, requests: Sequence[Request]) -> Job:
        """Pack the import and the calls."""
        frames = [protocol.encode({"number": 0, **self.program.load_message()})]
        for number, request in enumerate(requests, start=1):
            frames.append(
                protocol.encode({"number": number, "call": request.call}, request.tensors)
            )
        limits = self.program.limits
        calls = [min(request.deadline, limits.call_seconds) for request in requests]
        together = limits.load_seconds + max(limits.exercise_seconds, *calls)
        deadlines = [limits.load_seconds, *calls]
        return Job(b"".join(frames), deadlines, together, self.program.threads, limits)

    def attempt(self, job: Job, progress: Progress) -> Ended:
        """Run a job; a slot that is lost is replaced, and the job tried once more."""
        if self.fault is not None:
            raise self.fault
        for last in (False, True):
            self.slot = self.slot or SLOTS.take(self.key)
            try:
                return self.slot.run(job, self.printed, progress)
            except (SlotError, WorkerStartError) as error:
                self.slot.close()
                self.slot = None
                if last or isinstance(error, WorkerStartError):
                    self.fault = WorkerStartError(f"{error}")
                    raise self.fault from error
        raise AssertionError("unreachable")

    def reply(self, ended: Ended, slot: int) -> Reply:
        """Read an answer out of the reply buffer.

        Raises:
            WorkerLostError: there is none, or it is no answer.
        """
        try:
            found = ended.answers.read(slot)
        except protocol.ProtocolError as error:
            raise WorkerLostError("wrote into the grader's channel") from error
        if found is None:
            raise WorkerLostError(cause(ended))
        message, tensors = found
        if message.get("number") != slot:
            raise WorkerLostError("wrote into the grader's channel")
        return as_reply(message, tensors)
