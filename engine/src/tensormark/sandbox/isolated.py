"""Run a submission's calls in a server: the tiers `contained` and `locked`.

Each task, and each batch of calls of one exercise, gets its own child process: it imports the
submission, answers the calls in order and exits. Answers are read once it has died. To save time,
`together` first runs several exercises in one child; its caller uses only the replies that count,
and runs the other exercises again.

Covered: see the modules it builds on: bubblewrap.py (which files, processes and network exist),
lockdown.py and seccomp.py (what the child may do), reply_buffer.py (size), isolated_server.py
(time). Nothing that one exercise leaves behind reaches another in `run`.
Not covered: calls in one batch share a process, so an answer may depend on the calls before it.
Answers are untrusted: they only count if they equal a reference, or labels.
"""

import atexit
import contextlib
import dataclasses
import itertools
import math
import signal
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tensormark.sandbox import answers
from tensormark.sandbox.bubblewrap import ServerKey
from tensormark.sandbox.fork_server import ServerLostError
from tensormark.sandbox.interface import (
    CapturedOutput,
    Program,
    Progress,
    Reply,
    Request,
    Sandbox,
    Shared,
    WorkerHungError,
    WorkerLostError,
    WorkerStartError,
)
from tensormark.sandbox.isolated_server import Ending, IsolatedServer, Job
from tensormark.worker import protocol
from tensormark.worker.reply_buffer import CALL_ENDS

SHARED_SECONDS = 3.0  # for all calls of `together`; correct code takes a tenth of a second


class _Servers:
    """A pool of idle servers; if none is idle, a new one is started."""

    def __init__(self) -> None:
        self.idle: dict[ServerKey, list[IsolatedServer]] = {}
        self.lock = threading.Lock()

    def take(self, key: ServerKey) -> IsolatedServer:
        """Return a server that nobody else is using."""
        with self.lock:
            servers = self.idle.get(key, [])
            if servers:
                return servers.pop()
        return IsolatedServer(key)

    def give_back(self, key: ServerKey, server: IsolatedServer) -> None:
        """Keep a server for the next submission."""
        with self.lock:
            self.idle.setdefault(key, []).append(server)

    def close(self) -> None:
        """Close all idle servers."""
        with self.lock:
            servers = [server for idle in self.idle.values() for server in idle]
            self.idle.clear()
        for server in servers:
            server.close()


SERVERS = _Servers()
atexit.register(SERVERS.close)


def _cause(ending: Ending) -> WorkerLostError:
    """Return what ended a child, worded for the student."""
    if ending.exceeded is not None:
        return WorkerHungError(f"took longer than {round(ending.exceeded, 1):g} seconds")
    name = ""
    if ending.status < 0:
        with contextlib.suppress(ValueError):
            name = f" (by {signal.Signals(-ending.status).name})"
    return WorkerLostError(f"ended the process that graded it{name}")


class IsolatedSandbox(Sandbox):
    """Runs a submission's calls in the tier `contained` or `locked`."""

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
        self.fault: WorkerStartError | None = None  # raised again: the machine will not change
        checkpoint = program.checkpoint.resolve() if program.checkpoint else None
        self.key = ServerKey(
            contained,
            program.harness,
            program.requirements,
            checkpoint,
            tuple(program.rules.items()),
        )
        self.server: IsolatedServer | None = server or SERVERS.take(self.key)

    def __exit__(self, *exception: object) -> None:
        self.fault = WorkerStartError("the sandbox is closed")
        if self.server is not None and not any(exception):
            SERVERS.give_back(self.key, self.server)
        elif self.server is not None:  # something may still be running in it
            self.server.close()
        self.server = None

    def apart(self, program: Program, request: Request) -> Reply:
        """Run a call of another program, in a child of the same server.

        Raises:
            WorkerStartError: no server is available.
        """
        other = IsolatedSandbox(program, contained=self.key.contained, server=self.server)
        try:
            (reply,) = other.run([request])
        finally:
            self.server = other.server  # a new one if the call lost the first
        return reply

    def run(
        self, requests: Iterable[Request], progress: Progress = lambda done, total: None
    ) -> Iterator[Reply]:
        """Run calls in order, those of one exercise in one child.

        Raises:
            WorkerStartError: no server is available, which is not the submission's fault.
        """
        for _, batch in itertools.groupby(requests, key=lambda request: request.exercise):
            yield from self._run_exercise(list(batch), progress)

    def _run_exercise(self, requests: Sequence[Request], progress: Progress) -> list[Reply]:
        """Run the calls of one exercise; after a lost one, only those that do not run its code."""
        replies: dict[int, Reply] = {}
        while True:
            for index, request in enumerate(requests):
                if index not in replies and (reply := self.budget.known_reply(request)):
                    replies[index] = reply
            pending = [index for index in range(len(requests)) if index not in replies]
            if not pending:
                break
            batch = self._run_batch([requests[index] for index in pending], progress)
            for index, reply in zip(pending, batch, strict=False):
                replies[index] = reply
                self.budget.add(requests[index], reply)
        return [replies[index] for index in range(len(requests))]

    def _run_batch(self, requests: Sequence[Request], progress: Progress) -> list[Reply]:
        """Run calls in one child; return the replies up to the first lost one."""
        ending, printed = self.attempt(self.job(requests), requests[0], progress)
        self.printed.take(b"".join(printed))
        try:
            loaded = self._read_reply(ending, 0, frozenset())
        except WorkerLostError as error:
            loaded = error.reply(f"importing {self.program.main_file}")
        if loaded.status != "ok":
            self.budget.unloadable = loaded
            return []
        replies: list[Reply] = []
        for place, request in enumerate(requests, start=1):
            try:
                replies.append(self._read_reply(ending, place, request.tensor_names))
            except WorkerLostError as error:
                return [*replies, error.reply(request.target)]
        return replies

    def together(self, requests: Sequence[Request]) -> dict[str, Shared]:
        """Run the calls of several exercises in one child; see Sandbox.

        Raises:
            WorkerStartError: no server is available.
        """
        if any(map(self.budget.known_reply, requests)):
            return {}
        job = self.job(requests, SHARED_SECONDS)
        ending, printed = self.attempt(job, requests[0], lambda done, total: None)
        with contextlib.suppress(WorkerLostError):
            loaded = self._read_reply(ending, 0, frozenset())
            if loaded.status != "ok":
                self.budget.unloadable = loaded
        results: dict[str, Shared] = {}
        unchanged = False
        end = 1  # place 0 is the import's
        for exercise, group in itertools.groupby(requests, key=lambda request: request.exercise):
            calls = list(group)
            start = end
            end = end + len(calls)
            with contextlib.suppress(WorkerLostError):
                replies = [
                    self._read_reply(ending, place, call.tensor_names)
                    for place, call in enumerate(calls, start)
                ]
                results[exercise] = Shared(replies, b"".join(printed[start:end]), first=start == 1)
                unchanged = replies[-1].message.get("unchanged") is True
        self.printed.take(printed[0])
        return {name: shared for name, shared in results.items() if shared.first or unchanged}

    def job(self, requests: Sequence[Request], most: float = math.inf) -> Job:
        """Pack the import and the calls; the last one also says what they have left behind.

        Args:
            most: the most seconds that all of it may take.
        """
        limits = self.program.limits
        reply_bytes = max(limits.reply_bytes, *(request.reply_bytes for request in requests))
        messages: list[dict[str, Any]] = [{"call": request.call} for request in requests]
        messages[-1]["last"] = True
        frames = [protocol.encode({"number": 0, **self.program.load_message(requests)})]
        for number, (request, message) in enumerate(zip(requests, messages, strict=True), start=1):
            frames.append(protocol.encode({"number": number, **message}, request.tensors))
        calls = [min(request.deadline, limits.call_seconds) for request in requests]
        together = limits.load_seconds + max(limits.exercise_seconds, *calls)
        return Job(
            content=b"".join(frames),
            deadlines=[min(most, seconds) for seconds in (limits.load_seconds, *calls)],
            together=self.budget.cap(requests[0], min(most, together)),
            threads=self.program.threads,
            limits=dataclasses.replace(limits, reply_bytes=reply_bytes),
        )

    def attempt(self, job: Job, request: Request, progress: Progress) -> tuple[Ending, list[bytes]]:
        """Run a job in a server; if it is lost, retry once in a new one.

        Args:
            request: the first of the job, which decides whether its time counts.

        Returns:
            How it ended, and what was printed by the import (unless already returned) and by each
            call.
        """
        if self.fault is not None:
            raise self.fault
        for last in (False, True):
            printed = CapturedOutput()
            self.server = self.server or SERVERS.take(self.key)
            try:
                self.server.wait_until_ready()
                with self.budget.spend(request):
                    ending = self.server.run(job, printed, progress)
                by_import, *by_calls = printed.content.split(CALL_ENDS)
                repeated = self.import_printed
                self.import_printed = True
                return ending, [b"" if repeated else by_import, *by_calls]
            except (ServerLostError, WorkerStartError) as error:
                self.server.close()
                self.server = None
                if last or isinstance(error, WorkerStartError):
                    self.fault = WorkerStartError(f"{error}")
                    raise self.fault from error
        raise AssertionError("unreachable")

    def _read_reply(self, ending: Ending, place: int, tensor_names: frozenset[str] | None) -> Reply:
        """Read an answer from the reply buffer.

        Args:
            tensor_names: the names of the tensors that the answer may have; None: any.

        Raises:
            WorkerLostError: it is missing or invalid.
        """
        try:
            frame = ending.answers.read(place)
            if frame is None:
                raise _cause(ending)
            message, tensors = answers.decode(frame, tensor_names)
        except protocol.ProtocolError as error:
            raise answers.lost_by(error) from error
        if message.get("number") != place:
            raise WorkerLostError("wrote into the grader's channel")
        return answers.as_reply(message, tensors)
