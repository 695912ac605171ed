"""Run a submission's calls in a worker process: the tier `process`.

A plain subprocess with an almost empty environment, an empty working folder and resource limits. It
is for people who grade their own code on their own machine, on any system.

Covered: a worker that crashes, hangs, sends garbage or floods fails its current call (and the
remaining calls of the exercise) and is replaced; the next exercise is still graded. Nothing that it
prints can pass for an answer.
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
from tensormark.sandbox.worker_process import Started, WorkerProcess
from tensormark.worker import protocol

Answer = tuple[protocol.Message, protocol.Tensors]
MOST_PROGRESS = 1 << 16  # reports for one request; training makes one for each step


class Worker:
    """A worker process and the threads that read from it.

    A frame is only read when one is waited for, so that there is never more than one in memory,
    however many the worker sends.
    """

    def __init__(self, started: Started, printed: CapturedOutput) -> None:
        self.started = started
        self.number, self.room = 0, Limits().reply_bytes  # of the current request
        self.wanted, self.killed = threading.Semaphore(0), False
        self.frames: queue.SimpleQueue[bytes | WorkerLostError] = queue.SimpleQueue()
        self.threads = [
            threading.Thread(target=self.listen, daemon=True),
            threading.Thread(target=self.drain, args=(printed,), daemon=True),
        ]
        for thread in self.threads:
            thread.start()
        self.ready = False
        self.fault: WorkerStartError | None = None

    def listen(self) -> None:
        """Put frames into the queue as they are wanted, and finally why there are no more."""
        stream = self.started.stdout
        with stream:
            try:
                while self.wanted.acquire() and not self.killed:
                    frame = protocol.read_bytes(stream, self.room)
                    if frame is None:
                        self.frames.put(WorkerLostError("ended the process that graded it"))
                        return
                    self.frames.put(frame)
            except protocol.ProtocolError as error:
                self.frames.put(answers.lost_by(error))
            except (ValueError, OSError):
                self.frames.put(WorkerLostError("wrote into the grader's channel"))

    def drain(self, printed: CapturedOutput) -> None:
        """Keep the pipe of printed output from filling up."""
        stream = self.started.stderr
        with stream, contextlib.suppress(ValueError, OSError):
            printed.drain(stream)

    def next_frame(self, ends: float) -> bytes:
        """Wait for a frame until a time.

        Raises:
            WorkerLostError: there are no more. Empty: it is too late.
        """
        self.wanted.release()
        frame = self.frames.get(timeout=max(0.0, ends - clock()))
        if isinstance(frame, WorkerLostError):
            raise frame
        return frame

    def receive(
        self, deadline: float, progress: Progress, asked: frozenset[str] | None = frozenset()
    ) -> Answer:
        """Wait for the answer to the current request; progress does not extend the deadline."""
        ends = clock() + deadline
        try:
            for _ in range(MOST_PROGRESS):
                message, tensors = answers.decode(self.next_frame(ends), asked)
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
        """Wait until torch is imported.

        Raises:
            WorkerStartError: the worker does not start.
        """
        if self.fault is not None:
            raise self.fault
        if self.ready:
            return
        try:
            self.receive(START_DEADLINE, lambda done, total: None)
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
        asked: frozenset[str] | None = frozenset(),
        room: int = Limits().reply_bytes,
    ) -> Reply:
        """Send one request and wait for its answer; the worker must be ready.

        Args:
            asked: the names of the tensors that the answer may have; room: its bytes.
        """
        self.number, self.room = self.number + 1, room
        stream = self.started.stdin
        stopper = threading.Timer(deadline, self.started.kill)  # a worker may have stopped reading
        stopper.start()
        try:
            stream.write(protocol.encode({**message, "number": self.number}, tensors))
            stream.flush()
        except OSError as error:
            raise WorkerLostError("ended the process that graded it") from error
        finally:
            stopper.cancel()
        answer, arrays = self.receive(deadline, progress, asked)
        return as_reply(answer, arrays)

    def kill(self) -> None:
        """End the process."""
        self.started.kill()
        self.killed = True
        self.wanted.release()  # so that the listener sees it
        for thread in self.threads:
            thread.join(1.0)  # what was printed is read to its end
        self.started.close()


class ProcessSandbox:
    """Runs a submission's calls in worker processes of the tier `process`."""

    apart = None  # a submission could reach any other process
    together = None  # all exercises share a process until it is lost

    def __init__(
        self,
        program: Program,
        started: Started | None = None,
        start: Callable[[int], Started] = WorkerProcess,
    ) -> None:
        """Start a worker; it imports torch in the background.

        Args:
            started: the first worker, if there is one already.
            start: starts one, given torch's number of threads.
        """
        self.program, self.start = program, start
        self.printed = CapturedOutput()
        self.worker: Worker | None = Worker(started or start(program.threads), self.printed)
        self.loaded = self.closed = False
        self.changing = threading.Lock()  # held while a worker is started
        self.unloadable: Reply | None = None
        self.failed_calls, self.budget = FailedCalls(), Budget(program.budget)
        packages.modules(program.requirements)  # looked up now, while the worker imports torch

    def __enter__(self) -> "ProcessSandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.drop()

    def stop(self) -> None:
        """End the current call and run no more; any thread may call this."""
        with self.changing:
            self.closed = True
            if self.worker is not None:
                self.worker.started.kill()

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

    def ready(self) -> Worker:
        """Return a worker that has imported torch.

        Raises:
            WorkerStartError: none can start, or the sandbox is closed.
        """
        with self.changing:
            if self.closed:
                raise WorkerStartError("the sandbox is closed")
            if self.worker is None:
                self.worker = Worker(self.start(self.program.threads), self.printed)
            worker = self.worker
        worker.wait_until_ready()
        return worker

    def load(self, worker: Worker, seconds: float) -> None:
        """Have a worker import the submission."""
        try:
            load = self.program.load_message()
            reply = worker.ask(load, {}, seconds, lambda done, total: None)
        except WorkerLostError as error:
            self.drop()
            reply = lost(f"importing {self.program.main_file}", error)
        self.loaded = True
        self.unloadable = None if reply.status == "ok" else reply

    def ask(self, request: Request, progress: Progress = lambda done, total: None) -> Reply:
        """Run one call; a lost worker also gives a reply.

        Raises:
            WorkerStartError: no worker can start, which is not the submission's fault.
        """
        worker, limits = self.ready(), self.program.limits
        with self.budget.spend(request):
            if not self.loaded:
                self.load(worker, self.budget.cap(request, limits.load_seconds))
            if self.unloadable:
                return self.unloadable
            deadline = self.budget.cap(request, min(request.deadline, limits.call_seconds))
            try:
                call = {"call": request.call}
                room = max(limits.reply_bytes, request.reply_bytes)
                return worker.ask(call, request.tensors, deadline, progress, request.asked, room)
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
            reply = self.known(request)
            if reply is None:
                reply = self.ask(request, progress)
                self.failed_calls.add(request, reply)
                self.budget.add(reply)
            yield reply

    def known(self, request: Request) -> Reply | None:
        """Return the reply to a request that need not run, or None."""
        return self.unloadable or self.failed_calls.known(request) or self.budget.over(request)
