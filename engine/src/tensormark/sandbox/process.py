"""Run a submission's calls in a worker process: the tier `process`.

A plain subprocess with an almost empty environment, an empty working folder and resource limits. It
is for people who grade their own code on their own machine, on any system.

Covered: a worker that crashes, hangs, or sends garbage or too much fails its current call (and the
remaining calls of the exercise) and is replaced; the next exercise is still graded. Nothing that it
prints can be mistaken for an answer.
Not covered: a hostile submission can read the user's files, use the network and start processes. Do
not grade untrusted code with it.
"""

import contextlib
import dataclasses
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tensormark.sandbox import answers, packages
from tensormark.sandbox.budget import Budget
from tensormark.sandbox.interface import (
    START_DEADLINE,
    CapturedOutput,
    FailedCalls,
    Limits,
    Program,
    Progress,
    Reply,
    Request,
    WorkerHungError,
    WorkerLostError,
    WorkerStartError,
    as_progress,
    as_reply,
    clock,
    lost,
)
from tensormark.sandbox.worker_process import WorkerHandle, WorkerProcess
from tensormark.worker import protocol

Answer = tuple[protocol.Message, protocol.Tensors]
MAX_PROGRESS = 1 << 16  # reports for one request; training sends one for each step


class _Worker:
    """A worker process and the threads that read from it.

    A frame is only read once somebody waits for it, so at most one is in memory, however many the
    worker sends.
    """

    def __init__(self, handle: WorkerHandle, printed: CapturedOutput) -> None:
        self.handle = handle
        # of the current request, and of its answer
        self.number, self.max_bytes = 0, Limits().reply_bytes
        self.permits, self.killed = threading.Semaphore(0), False
        self.frames: queue.SimpleQueue[bytes | WorkerLostError] = queue.SimpleQueue()
        self.threads = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=self._drain, args=(printed,), daemon=True),
        ]
        for thread in self.threads:
            thread.start()
        self.ready = False
        self.fault: WorkerStartError | None = None

    def _listen(self) -> None:
        """Put a frame into the queue for each permit, and finally the reason why no more come."""
        stream = self.handle.stdout
        with stream:
            try:
                while self.permits.acquire() and not self.killed:
                    frame = protocol.read_bytes(stream, self.max_bytes)
                    if frame is None:
                        self.frames.put(WorkerLostError("ended the process that graded it"))
                        return
                    self.frames.put(frame)
            except protocol.ProtocolError as error:
                self.frames.put(answers.lost_by(error))
            except (ValueError, OSError):
                self.frames.put(WorkerLostError("wrote into the grader's channel"))

    def _drain(self, printed: CapturedOutput) -> None:
        """Read what is printed, so that its pipe does not fill up."""
        stream = self.handle.stderr
        with stream, contextlib.suppress(ValueError, OSError):
            printed.drain(stream)

    def _next_frame(self, end: float) -> bytes:
        """Wait for a frame until this time.

        Raises:
            WorkerLostError: no more frames will come. Empty: none came in time.
        """
        self.permits.release()
        frame = self.frames.get(timeout=max(0.0, end - clock()))
        if isinstance(frame, WorkerLostError):
            raise frame
        return frame

    def _receive(
        self, deadline: float, progress: Progress, tensor_names: frozenset[str] | None = frozenset()
    ) -> Answer:
        """Wait for the answer to the current request; progress does not extend the deadline."""
        end = clock() + deadline
        try:
            for _ in range(MAX_PROGRESS):
                message, tensors = answers.decode(self._next_frame(end), tensor_names)
                if message.get("number") != self.number:
                    break
                if "progress" not in message:
                    return message, tensors
                done, total = as_progress(message["progress"])
                progress(done, total)
        except queue.Empty:
            raise WorkerHungError(f"took longer than {round(deadline, 1):g} seconds") from None
        except protocol.ProtocolError as error:
            raise answers.lost_by(error) from error
        raise WorkerLostError("wrote into the grader's channel")

    def wait_until_ready(self) -> None:
        """Wait until the worker has imported torch.

        Raises:
            WorkerStartError: the worker does not start.
        """
        if self.fault is not None:
            raise self.fault
        if self.ready:
            return
        try:
            self._receive(START_DEADLINE, lambda done, total: None)
        except WorkerLostError as error:
            self.fault = WorkerStartError(f"the worker does not start: it {error}")
            raise self.fault from error
        self.ready = True

    def ask(
        self,
        message: Mapping[str, Any],
        tensors: Mapping[str, Any],
        deadline: float,
        progress: Progress,
        tensor_names: frozenset[str] | None = frozenset(),
        max_bytes: int = Limits().reply_bytes,
    ) -> Reply:
        """Send one request and wait for its answer; the worker must be ready.

        Args:
            tensor_names: the names of the tensors that the answer may have; None: any.
            max_bytes: the size limit of the answer.
        """
        self.number, self.max_bytes = self.number + 1, max_bytes
        stream = self.handle.stdin
        stopper = threading.Timer(deadline, self.handle.kill)  # a worker may have stopped reading
        stopper.daemon = True  # Ctrl-C may come before `cancel`
        stopper.start()
        try:
            stream.write(protocol.encode({**message, "number": self.number}, tensors))
            stream.flush()
        except OSError as error:
            raise WorkerLostError("ended the process that graded it") from error
        finally:
            stopper.cancel()
        answer, arrays = self._receive(deadline, progress, tensor_names)
        return as_reply(answer, arrays)

    def kill(self) -> None:
        """End the process."""
        self.handle.kill()
        self.killed = True
        self.permits.release()  # so that the listener sees it
        for thread in self.threads:
            thread.join(1.0)  # until all that was printed is read
        self.handle.close()


class ProcessSandbox:
    """Runs a submission's calls in worker processes of the tier `process`."""

    apart = None  # a submission could reach any other process
    together = None  # all exercises share a process until it is lost

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
        self.program, self.start = program, start
        self.printed = CapturedOutput()
        self.worker: _Worker | None = _Worker(handle or start(program.threads), self.printed)
        self.loaded = self.closed = False
        self.start_lock = threading.Lock()  # held while a worker is started
        self.unloadable: Reply | None = None
        self.failed_calls, self.budget = FailedCalls(), Budget(program.budget)
        packages.modules(program.requirements)  # cached now, while the worker imports torch

    def __enter__(self) -> "ProcessSandbox":
        return self

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
        self.worker, self.loaded = None, False

    def reload(self, sources: Mapping[str, str]) -> None:
        """Make the same worker import other sources: for your own code, never a student's."""
        self.program = dataclasses.replace(self.program, sources=dict(sources))
        self.loaded, self.unloadable = False, None
        self.failed_calls, self.budget = FailedCalls(), Budget(self.program.budget)

    def _ready_worker(self) -> _Worker:
        """Return a worker that has imported torch.

        Raises:
            WorkerStartError: no worker can start, or the sandbox is closed.
        """
        with self.start_lock:
            if self.closed:
                raise WorkerStartError("the sandbox is closed")
            if self.worker is None:
                self.worker = _Worker(self.start(self.program.threads), self.printed)
            worker = self.worker
        worker.wait_until_ready()
        return worker

    def _load(self, worker: _Worker, seconds: float) -> None:
        """Have a worker import the submission."""
        try:
            request = self.program.load_message()
            reply = worker.ask(request, {}, seconds, lambda done, total: None)
        except WorkerLostError as error:
            self.drop()
            reply = lost(f"importing {self.program.main_file}", error)
        self.loaded = True
        self.unloadable = None if reply.status == "ok" else reply

    def _ask(self, request: Request, progress: Progress = lambda done, total: None) -> Reply:
        """Run one call; if the worker is lost, the reply says so.

        Raises:
            WorkerStartError: no worker can start, which is not the submission's fault.
        """
        worker, limits = self._ready_worker(), self.program.limits
        with self.budget.spend(request):
            if not self.loaded:
                self._load(worker, self.budget.cap(request, limits.load_seconds))
            if self.unloadable:
                return self.unloadable
            deadline = self.budget.cap(request, min(request.deadline, limits.call_seconds))
            try:
                return worker.ask(
                    {"call": request.call},
                    request.tensors,
                    deadline,
                    progress,
                    request.tensor_names,
                    max(limits.reply_bytes, request.reply_bytes),
                )
            except WorkerLostError as error:
                self.drop()
                return lost(request.target, error)

    def run(
        self, requests: Iterable[Request], progress: Progress = lambda done, total: None
    ) -> Iterator[Reply]:
        """Run calls in order; after a lost call, skip the other calls that run the same exercise.

        So a function that hangs costs one deadline, not one for each call that runs it.
        """
        for request in requests:
            reply = self._known_reply(request)
            if reply is None:
                reply = self._ask(request, progress)
                self.failed_calls.add(request, reply)
                self.budget.add(reply)
            yield reply

    def _known_reply(self, request: Request) -> Reply | None:
        """Return the reply to a request that need not run, or None."""
        failed = self.failed_calls.reply_to(request)
        return self.unloadable or failed or self.budget.refusal(request)
