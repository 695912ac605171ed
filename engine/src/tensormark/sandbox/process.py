"""Run a submission's calls in a worker process: the tier `process`.

A plain subprocess with an almost empty environment, an empty working folder and resource limits. It
is for people who grade their own code on their own machine, on any system.

Covered: a worker that crashes, hangs, stops reading, or sends garbage or too much fails its current
call (and the remaining calls of the exercise) and is replaced; the next exercise is still graded.
Nothing that it prints can be mistaken for an answer.
Not covered: a hostile submission can read the user's files, use the network and start processes. Do
not grade untrusted code with it.
"""

import contextlib
import queue
import threading
from collections.abc import Callable

from tensormark.sandbox import answers, packages
from tensormark.sandbox.interface import (
    START_DEADLINE,
    Answers,
    CapturedOutput,
    Job,
    Program,
    Progress,
    Reply,
    Sandbox,
    WorkerHungError,
    WorkerLostError,
    WorkerStartError,
    clock,
)
from tensormark.sandbox.worker_process import WorkerHandle, WorkerProcess
from tensormark.worker import protocol

MAX_PROGRESS = 1 << 16  # reports for one request; training sends one for each step
ENDED = "ended the process that graded it"


class PipeWorker:
    """A worker process that is asked through pipes, and the threads that read from it.

    A frame is only read once somebody waits for it, so at most one is in memory, however many the
    worker sends.

    Attributes:
        loaded: the sources that it has imported.
        ended: whether it was closed.
    """

    def __init__(self, handle: WorkerHandle, printed: CapturedOutput) -> None:
        self.handle = handle
        self.loaded: object = None
        self.ready = self.ended = False
        self.max_bytes = 0  # of the next frame
        self.permits = threading.Semaphore(0)
        self.frames: queue.SimpleQueue[bytes | WorkerLostError] = queue.SimpleQueue()
        self.threads = [
            threading.Thread(target=self._listen, daemon=True),
            threading.Thread(target=self._drain, args=(printed,), daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    def _listen(self) -> None:
        """Put a frame into the queue for each permit, and finally the reason why no more come."""
        stream = self.handle.stdout
        with stream:
            try:
                while self.permits.acquire() and not self.ended:
                    frame = protocol.read_bytes(stream, self.max_bytes)
                    if frame is None:
                        self.frames.put(WorkerLostError(ENDED))
                        return
                    self.frames.put(frame)
            except protocol.ProtocolError as error:
                self.frames.put(answers.lost_by(error))
            except (ValueError, OSError):
                self.frames.put(WorkerLostError(protocol.ProtocolError.says))

    def _drain(self, printed: CapturedOutput) -> None:
        """Read what is printed, so that its pipe does not fill up."""
        stream = self.handle.stderr
        with stream, contextlib.suppress(ValueError, OSError):
            while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
                printed.take(chunk)

    def _send(self, frame: bytes, deadline: float) -> None:
        """Send a request.

        Raises:
            WorkerLostError: the worker has ended, or does not read in time.
        """
        stream = self.handle.stdin
        stopper = threading.Timer(deadline, self.handle.kill)  # a worker may have stopped reading
        stopper.daemon = True  # Ctrl-C may come before `cancel`
        stopper.start()
        try:
            stream.write(frame)
            stream.flush()
        except OSError as error:
            raise WorkerLostError(ENDED) from error
        finally:
            stopper.cancel()

    def _answer(
        self,
        number: int,
        deadline: float,
        tensor_names: frozenset[str] | None = frozenset(),
        progress: Progress = lambda done, total: None,
    ) -> Reply:
        """Wait for the answer to a request; progress does not extend the deadline.

        Raises:
            WorkerLostError: there is none in time, or it is invalid.
        """
        end = clock() + deadline
        for _ in range(MAX_PROGRESS):
            self.permits.release()
            try:
                frame = self.frames.get(timeout=max(0.0, end - clock()))
            except queue.Empty:
                raise WorkerHungError(f"took longer than {round(deadline, 1):g} seconds") from None
            if isinstance(frame, WorkerLostError):
                raise frame
            reply = answers.reply_in(frame, number, tensor_names)
            if "progress" not in reply.message:
                return reply
            progress(*answers.as_progress(reply.message["progress"]))
        raise WorkerLostError(protocol.ProtocolError.says)

    def wait_until_ready(self) -> None:
        """Wait until it has imported torch; see `Worker`."""
        if self.ready:
            return
        self.max_bytes = protocol.MAX_JSON
        try:
            self._answer(0, START_DEADLINE)
        except WorkerLostError as error:
            raise WorkerStartError(f"the worker does not start: it {error}") from error
        self.ready = True

    def run(self, job: Job, progress: Progress) -> Answers:
        """Run a job; the submission is not imported again if it has been."""
        end = clock() + job.seconds
        self.max_bytes = job.reply_bytes

        def ask(place: int) -> Reply:
            if place == 0 and self.loaded is job.program.sources:
                return Reply("ok")
            step = job.steps[place]
            frame = protocol.encode(job.message(place), step.tensors)
            seconds = min(step.deadline, max(0.0, end - clock()))
            self._send(frame, seconds)
            return self._answer(place, seconds, step.tensor_names, progress)

        replies = job.replies(ask)
        if "refused" in replies[0].message:
            raise WorkerStartError(replies[0].message["refused"])
        if replies[0].status == "ok":
            self.loaded = job.program.sources
        return Answers(replies)

    def close(self) -> None:
        """End the process."""
        self.handle.kill()
        self.ended = True
        self.permits.release()  # so that the listener sees it
        for thread in self.threads:
            thread.join(1.0)  # until all that was printed is read
        self.handle.close()


class ProcessSandbox(Sandbox):
    """Runs a submission's calls in worker processes of the tier `process`.

    Nothing runs `apart`, as a submission could reach any other process.
    """

    isolates = False
    worker: PipeWorker | None

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
        self.worker = PipeWorker(handle or start(program.threads), self.printed)
        packages.modules(program.requirements)  # cached now, while the worker imports torch

    def take(self) -> PipeWorker:
        """Start a worker."""
        return PipeWorker(self.start(self.program.threads), self.printed)

    def stop(self) -> None:
        """End the current call and run no others; any thread may call this."""
        with self.taking:
            self.closed = True
            if self.worker is not None:
                self.worker.handle.kill()

    def attempt(self, job: Job, progress: Progress) -> Answers:
        """Run a job; the worker that a call was lost with is replaced for the next one."""
        answered = super().attempt(job, progress)
        if answered.replies[-1].status == "lost":
            self.drop()
        return answered
