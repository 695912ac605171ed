"""Run a submission's calls in a worker process: the tier `process`.

A plain subprocess with an almost empty environment, an empty working folder and resource limits. It
is for people who grade their own code on their own machine, on any system.

Covered: a worker that crashes, hangs, or sends garbage or too much fails its current call (and the
remaining calls of the exercise) and is replaced; the next exercise is still graded. Nothing that it
prints can be mistaken for an answer.
Not covered: a hostile submission can read the user's files, use the network and start processes. Do
not grade untrusted code with it.
"""

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping

from tensormark.sandbox import packages
from tensormark.sandbox.interface import (
    Program,
    Progress,
    Reply,
    Request,
    Sandbox,
    WorkerLostError,
    WorkerStartError,
)
from tensormark.sandbox.worker_link import WorkerLink
from tensormark.sandbox.worker_process import WorkerHandle, WorkerProcess


class ProcessSandbox(Sandbox):
    """Runs a submission's calls in worker processes of the tier `process`.

    Nothing runs `apart`, as a submission could reach any other process, or `together`, as all
    exercises share a process until it is lost.
    """

    def __init__(
        self,
        program: Program,
        handle: WorkerHandle | None = None,
        start: Callable[[int], WorkerHandle] = WorkerProcess,
    ) -> None:
        """Start a worker; it imports torch in the background.

        Args:
            handle: the first worker, if it has already been started.
            start: starts a worker, given torch's number of threads.
        """
        super().__init__(program)
        self.start = start
        self.worker: WorkerLink | None = WorkerLink(handle or start(program.threads), self.printed)
        self.loaded = self.closed = False
        self.start_lock = threading.Lock()  # held while a worker is started
        self.sent: Request | None = None  # the call that the worker runs now
        packages.modules(program.requirements)  # cached now, while the worker imports torch

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.drop()

    def stop(self) -> None:
        """End the current call and run no others; any thread may call this."""
        with self.start_lock:
            self.closed = True
            if self.worker is not None:
                self.worker.handle.kill()

    def drop(self) -> None:
        """Kill the worker."""
        if self.worker is not None:
            self.worker.kill()
        self.worker = None
        self.loaded = False
        self.sent = None

    def reload(self, sources: Mapping[str, str]) -> None:
        """Make the same worker import other sources: for your own code, never a student's."""
        super().reload(sources)
        self.loaded = False

    def _ready_worker(self) -> WorkerLink:
        """Return a worker that has imported torch.

        Raises:
            WorkerStartError: no worker can start, or the sandbox is closed.
        """
        with self.start_lock:
            if self.closed:
                raise WorkerStartError("the sandbox is closed")
            if self.worker is None:
                self.worker = WorkerLink(self.start(self.program.threads), self.printed)
            worker = self.worker
        worker.wait_until_ready()
        return worker

    def _load(self, worker: WorkerLink, seconds: float) -> None:
        """Have a worker import the submission.

        Raises:
            WorkerStartError: something that the assignment forbids cannot be forbidden.
        """
        try:
            worker.send(worker.packed(self.program.load_message(), {}), seconds)
            reply = worker.answer(seconds)
        except WorkerLostError as error:
            self.drop()
            reply = error.reply(f"importing {self.program.main_file}")
        if "refused" in reply.message:
            raise WorkerStartError(reply.message["refused"])
        self.loaded = True
        self.budget.unloadable = None if reply.status == "ok" else reply

    def _seconds(self, request: Request) -> float:
        """Return a call's deadline."""
        return self.budget.cap(request, min(request.deadline, self.program.limits.call_seconds))

    def _ask(self, request: Request, following: Request | None, progress: Progress) -> Reply:
        """Run one call; if the worker is lost, the reply says so.

        Args:
            following: the next call, which the worker begins while the caller reads this reply.

        Raises:
            WorkerStartError: no worker can start, which is not the submission's fault.
        """
        if self.sent is not None and self.sent is not request:
            self.drop()  # it runs a call that is no longer wanted, and would answer that
        worker = self._ready_worker()
        limits = self.program.limits
        with self.budget.spend(request):
            if not self.loaded:
                self._load(worker, self.budget.cap(request, limits.load_seconds))
            if self.budget.unloadable:
                return self.budget.unloadable
            seconds = self._seconds(request)
            reply_bytes = max(limits.reply_bytes, request.reply_bytes)
            try:
                if self.sent is not request:
                    worker.send(worker.packed_call(request), seconds)
                self.sent = request
                frame = worker.packed_call(following) if following else b""
                reply = worker.answer(seconds, progress, request.tensor_names, reply_bytes)
            except WorkerLostError as error:
                self.drop()
                return error.reply(request.target)
            self.sent = following
            if following is not None:
                try:
                    worker.send(frame, self._seconds(following))
                except WorkerLostError:  # it has ended, or reads no more; its answer counts
                    self.drop()
            return reply

    def run(
        self, requests: Iterable[Request], progress: Progress = lambda done, total: None
    ) -> Iterator[Reply]:
        """Run calls in order; after a lost call, skip the other calls that run the same exercise.

        So a function that hangs costs one deadline, not one for each call that runs it.
        """
        calls = [*requests]
        for request, following in itertools.zip_longest(calls, calls[1:]):
            reply = self.budget.known_reply(request)
            if reply is None:
                ahead = following if following and not self.budget.known_reply(following) else None
                reply = self._ask(request, ahead, progress)
                self.budget.add(request, reply)
            yield reply
