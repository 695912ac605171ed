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
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from grader.sandbox.budget import Budget
from grader.sandbox.interface import (
    START_DEADLINE,
    CapturedOutput,
    FailedCalls,
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
from grader.sandbox.worker_process import WorkerProcess
from grader.worker import protocol


class Worker:
    """A worker process and the threads that read from it."""

    def __init__(self, started: WorkerProcess, printed: CapturedOutput) -> None:
        self.started, self.process = started, started.process
        self.frames: queue.Queue[tuple[protocol.Message, protocol.Tensors] | str] = queue.Queue(64)
        self.threads = [
            threading.Thread(target=self.listen, daemon=True),
            threading.Thread(target=self.drain, args=(printed,), daemon=True),
        ]
        for thread in self.threads:
            thread.start()
        self.number = 0
        self.ready = False

    def listen(self) -> None:
        """Put frames into the queue, and finally the reason why there are no more."""
        stream = self.process.stdout
        assert stream is not None
        with stream:
            try:
                while (frame := protocol.read_frame(stream)) is not None:  # type: ignore[arg-type]
                    self.frames.put(frame)
                self.frames.put("ended the process that graded it")
            except (protocol.ProtocolError, ValueError, OSError):
                self.frames.put("wrote into the grader's channel")

    def drain(self, printed: CapturedOutput) -> None:
        """Keep the pipe of printed output from filling up."""
        stream = self.process.stderr
        assert stream is not None
        with stream, contextlib.suppress(ValueError, OSError):
            printed.drain(stream)  # type: ignore[arg-type]

    def receive(
        self, deadline: float, progress: Progress
    ) -> tuple[protocol.Message, protocol.Tensors]:
        """Wait for the answer to the current request; progress does not extend the deadline."""
        ends = clock() + deadline
        while True:
            try:
                frame = self.frames.get(timeout=max(0.0, ends - clock()))
            except queue.Empty:
                text = f"took longer than {round(deadline, 1):g} seconds"
                raise WorkerHungError(text) from None
            if isinstance(frame, str):
                raise WorkerLostError(frame)
            message, tensors = frame
            if message.get("number") != self.number:
                raise WorkerLostError("wrote into the grader's channel")
            if "progress" not in message:
                return message, tensors
            done, total = as_progress(message["progress"])
            progress(done, total)

    def wait_until_ready(self) -> None:
        """Wait until torch is imported.

        Raises:
            WorkerStartError: the worker does not start.
        """
        if self.ready:
            return
        try:
            self.receive(START_DEADLINE, lambda done, total: None)
        except WorkerLostError as error:
            self.frames.put(str(error))  # so that asking again does not wait again
            raise WorkerStartError(f"the worker does not start: it {error}") from error
        self.ready = True

    def ask(
        self,
        message: Mapping[str, Any],
        tensors: Mapping[str, Any],
        deadline: float,
        progress: Progress,
    ) -> Reply:
        """Send one request and wait for its answer; the worker must be ready."""
        self.number += 1
        stream = self.process.stdin
        assert stream is not None
        stopper = threading.Timer(deadline, self.started.kill)  # a worker may have stopped reading
        stopper.start()
        try:
            stream.write(protocol.encode({**message, "number": self.number}, tensors))
            stream.flush()
        except OSError as error:
            raise WorkerLostError("ended the process that graded it") from error
        finally:
            stopper.cancel()
        answer, arrays = self.receive(deadline, progress)
        return as_reply(answer, arrays)

    def kill(self) -> None:
        """End the process."""
        self.started.kill()
        self.threads[-1].join(1.0)  # what was printed is read to its end
        self.started.close()


class ProcessSandbox:
    """Runs a submission's calls in worker processes of the tier `process`."""

    def __init__(self, program: Program, started: WorkerProcess | None = None) -> None:
        """Start a worker; it imports torch in the background.

        Args:
            started: the process of the first worker, if there is one already.
        """
        self.program = program
        self.printed = CapturedOutput()
        self.worker: Worker | None = Worker(started or self.start(), self.printed)
        self.loaded = False
        self.unloadable: Reply | None = None
        self.failed_calls, self.budget = FailedCalls(), Budget(program.budget)

    def __enter__(self) -> "ProcessSandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()

    def start(self) -> WorkerProcess:
        """Start a process."""
        return WorkerProcess(self.program.threads)

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
        """Return a worker that has imported torch."""
        if self.worker is None:
            self.worker = Worker(self.start(), self.printed)
        self.worker.wait_until_ready()
        return self.worker

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
                return worker.ask({"call": request.call}, request.tensors, deadline, progress)
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
