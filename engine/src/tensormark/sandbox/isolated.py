"""Run a submission's calls in a slot: the tiers `contained` and `locked`.

Each task, and the calls of an exercise that are made together, have a child process of their own:
it imports the submission, answers the calls in order and exits. Answers are read once it is dead.
To spare time, `together` first runs several exercises in one child; it is for its caller to take
from there only what counts, and to run all else again.

Covered: see the modules it builds on: bubblewrap.py (which files, processes and network exist),
lockdown.py and seccomp.py (what the child may do), reply_buffer.py (size), slot.py (time). Nothing
that one exercise leaves behind reaches the next one that `run` runs.
Not covered: calls that are made together share a process, so an answer may depend on the calls
before it. Answers are untrusted: they only count if they equal a reference, or labels.
"""

import atexit
import contextlib
import dataclasses
import itertools
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tensormark.sandbox import answers
from tensormark.sandbox.budget import Budget
from tensormark.sandbox.interface import (
    CapturedOutput,
    FailedCalls,
    Program,
    Progress,
    Reply,
    Request,
    Shared,
    WorkerHungError,
    WorkerLostError,
    WorkerStartError,
    as_reply,
    lost,
)
from tensormark.sandbox.job import Ended, Job, SlotError, SlotKey
from tensormark.sandbox.slot import Slot
from tensormark.worker import protocol
from tensormark.worker.reply_buffer import CALL_ENDS

SHARED_SECONDS = 3.0  # for all that `together` runs; right code takes a tenth of one


class Slots:
    """A pool of idle slots; if there is none, a new one is started."""

    def __init__(self) -> None:
        self.idle: dict[SlotKey, list[Slot]] = {}
        self.lock = threading.Lock()

    def take(self, key: SlotKey) -> Slot:
        """Return a slot that nobody else is using."""
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
        """Close all idle slots."""
        with self.lock:
            slots = [slot for waiting in self.idle.values() for slot in waiting]
            self.idle.clear()
        for slot in slots:
            slot.close()


SLOTS = Slots()
atexit.register(SLOTS.close)


def cause(ended: Ended) -> WorkerLostError:
    """Return what ended a child, in words for the student."""
    if ended.late is not None:
        return WorkerHungError(f"took longer than {round(ended.late, 1):g} seconds")
    name = ""
    if ended.status < 0:
        with contextlib.suppress(ValueError):
            name = f" (by {signal.Signals(-ended.status).name})"
    return WorkerLostError(f"ended the process that graded it{name}")


class IsolatedSandbox:
    """Runs a submission's calls in the tier `contained` or `locked`."""

    def __init__(
        self,
        program: Program,
        *,
        contained: bool = True,
        lock: bool = True,
        slot: Slot | None = None,
    ) -> None:
        """Take a slot, or start one; it imports torch in the background.

        Args:
            contained: in a container; otherwise without namespaces.
            lock: False skips the lockdown, for measurements only.
            slot: to use instead.

        Raises:
            WorkerStartError: the machine lacks something; the message says what.
        """
        self.program = program
        self.printed, self.import_printed = CapturedOutput(), False
        self.unloadable: Reply | None = None
        self.failed_calls, self.budget = FailedCalls(), Budget(program.budget)
        self.fault: WorkerStartError | None = None  # what the machine lacks will not appear later
        checkpoint = program.checkpoint.resolve() if program.checkpoint else None
        self.key = SlotKey(contained, program.harness, program.requirements, checkpoint, lock)
        self.slot: Slot | None = slot or SLOTS.take(self.key)

    def __enter__(self) -> "IsolatedSandbox":
        return self

    def __exit__(self, *raised: object) -> None:
        self.fault = WorkerStartError("the sandbox is closed")
        if self.slot is not None and not any(raised):
            SLOTS.give_back(self.key, self.slot)
        elif self.slot is not None:  # something may still be running in it
            self.slot.close()
        self.slot = None

    def reload(self, sources: Mapping[str, str]) -> None:
        """Switch to other sources; nothing here depends on the old ones."""
        self.program = dataclasses.replace(self.program, sources=dict(sources))
        self.unloadable, self.failed_calls = None, FailedCalls()
        self.budget = Budget(self.program.budget)

    def apart(self, program: Program, request: Request) -> Reply:
        """Run a call of another program, in a child of the same slot.

        Raises:
            WorkerStartError: no slot is available.
        """
        contained, lock = self.key.contained, self.key.lock
        other = IsolatedSandbox(program, contained=contained, lock=lock, slot=self.slot)
        try:
            (reply,) = other.run([request])
        finally:
            self.slot = other.slot  # a new one, if it has lost the first
        return reply

    def run(
        self, requests: Iterable[Request], progress: Progress = lambda done, total: None
    ) -> Iterator[Reply]:
        """Run calls in order, those of one exercise in one child.

        Raises:
            WorkerStartError: no slot is available, which is not the submission's fault.
        """
        for _, batch in itertools.groupby(requests, key=lambda request: request.exercise):
            yield from self.exercise(list(batch), progress)

    def exercise(self, requests: Sequence[Request], progress: Progress) -> Iterator[Reply]:
        """Run the calls of one exercise; after a lost one, only those that do not run its code."""
        replies: dict[int, Reply] = {}
        while True:
            for place, request in enumerate(requests):
                if place not in replies and (known := self.known(request)):
                    replies[place] = known
            left = [place for place in range(len(requests)) if place not in replies]
            if not left:
                break
            found = self.batch([requests[place] for place in left], progress)
            for place, reply in zip(left, found, strict=False):
                replies[place] = reply
                self.failed_calls.add(requests[place], reply)
                self.budget.add(reply)
        for place in range(len(requests)):
            yield replies[place]

    def known(self, request: Request) -> Reply | None:
        """Return the reply to a request that need not run, or None."""
        return self.unloadable or self.failed_calls.known(request) or self.budget.over(request)

    def batch(self, requests: Sequence[Request], progress: Progress) -> list[Reply]:
        """Run calls in one child; return the replies up to the first lost one."""
        ended, printed = self.attempt(self.job(requests), requests[0], progress)
        self.printed.take(b"".join(printed))
        try:
            loaded = self.reply(ended, 0, frozenset())
        except WorkerLostError as error:
            loaded = lost(f"importing {self.program.main_file}", error)
        if loaded.status != "ok":
            self.unloadable = loaded
            return []
        replies: list[Reply] = []
        for slot, request in enumerate(requests, start=1):
            try:
                replies.append(self.reply(ended, slot, request.asked))
            except WorkerLostError as error:
                return [*replies, lost(request.target, error)]
        return replies

    def together(self, requests: Sequence[Request]) -> dict[str, Shared]:
        """Run the calls of several exercises in one child; see Sandbox.

        Raises:
            WorkerStartError: no slot is available.
        """
        if any(map(self.known, requests)):
            return {}
        job = self.job(requests)
        short = [min(SHARED_SECONDS, seconds) for seconds in job.deadlines]
        whole = self.budget.cap(requests[0], SHARED_SECONDS)
        job = dataclasses.replace(job, deadlines=short, together=whole)
        ended, printed = self.attempt(job, requests[0], lambda done, total: None)
        with contextlib.suppress(WorkerLostError):
            loaded = self.reply(ended, 0, frozenset())
            if loaded.status != "ok":
                self.unloadable = loaded
        found: dict[str, Shared] = {}
        numbered = enumerate(requests, start=1)
        for exercise, calls in itertools.groupby(numbered, key=lambda one: one[1].exercise):
            slots = [*calls]
            with contextlib.suppress(WorkerLostError):
                replies = [self.reply(ended, slot, request.asked) for slot, request in slots]
                own = b"".join(printed[slots[0][0] : slots[-1][0] + 1])
                found[exercise] = Shared(replies, own, first=slots[0][0] == 1)
        self.printed.take(printed[0])
        return found

    def job(self, requests: Sequence[Request]) -> Job:
        """Pack the import and the calls, with what ends the calls of an exercise."""
        frames = [protocol.encode({"number": 0, **self.program.load_message(requests)})]
        after = [request.exercise for request in requests[1:]]
        for number, request in enumerate(requests, start=1):
            message = {"number": number, "call": request.call}
            if after[number - 1 : number] not in ([], [request.exercise]):
                message["last"] = True
            frames.append(protocol.encode(message, request.tensors))
        limits = self.program.limits
        space = max(limits.reply_bytes, *(request.reply_bytes for request in requests))
        limits = dataclasses.replace(limits, reply_bytes=space)
        calls = [min(request.deadline, limits.call_seconds) for request in requests]
        together = limits.load_seconds + max(limits.exercise_seconds, *calls)
        together = self.budget.cap(requests[0], together)
        deadlines = [limits.load_seconds, *calls]
        return Job(b"".join(frames), deadlines, together, self.program.threads, limits)

    def attempt(self, job: Job, request: Request, progress: Progress) -> tuple[Ended, list[bytes]]:
        """Run a job in a slot; if it is lost, retry once in a new one.

        Args:
            request: the first.

        Returns:
            How it ended; and what was printed, by the import (once) and by each call.
        """
        if self.fault is not None:
            raise self.fault
        for last in (False, True):
            printed = CapturedOutput()
            self.slot = self.slot or SLOTS.take(self.key)
            try:
                self.slot.wait_until_ready()
                with self.budget.spend(request):
                    ended = self.slot.run(job, printed, progress)
                by_import, *by_calls = printed.kept.split(CALL_ENDS)
                again, self.import_printed = self.import_printed, True
                return ended, [b"" if again else by_import, *by_calls]
            except (SlotError, WorkerStartError) as error:
                self.slot.close()
                self.slot = None
                if last or isinstance(error, WorkerStartError):
                    self.fault = WorkerStartError(f"{error}")
                    raise self.fault from error
        raise AssertionError("unreachable")

    def reply(self, ended: Ended, slot: int, asked: frozenset[str] | None) -> Reply:
        """Read an answer from the reply buffer.

        Args:
            asked: the names of the tensors that it may have.

        Raises:
            WorkerLostError: it is missing or invalid.
        """
        try:
            frame = ended.answers.read(slot)
            if frame is None:
                raise cause(ended)
            message, tensors = answers.decode(frame, asked)
        except protocol.ProtocolError as error:
            raise answers.lost_by(error) from error
        if message.get("number") != slot:
            raise WorkerLostError("wrote into the grader's channel")
        return as_reply(message, tensors)
