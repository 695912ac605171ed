"""A conversation with one worker process: requests, answers and deadlines. Trusted side.

Covered: an answer that is late, too large or invalid, and a worker that has stopped reading. Not
covered: what an answer says.
"""

import contextlib
import queue
import threading
from collections.abc import Mapping
from typing import Any

from tensormark.sandbox import answers
from tensormark.sandbox.interface import (
    START_DEADLINE,
    CapturedOutput,
    Limits,
    Progress,
    Reply,
    Request,
    WorkerHungError,
    WorkerLostError,
    WorkerStartError,
    clock,
)
from tensormark.sandbox.worker_process import WorkerHandle
from tensormark.worker import protocol

MAX_PROGRESS = 1 << 16  # reports for one request; training sends one for each step


class WorkerLink:
    """A worker process and the threads that read from it.

    A frame is only read once somebody waits for it, so at most one is in memory, however many the
    worker sends.
    """

    def __init__(self, handle: WorkerHandle, printed: CapturedOutput) -> None:
        self.handle = handle
        self.number = 0  # of the current request
        self.max_bytes = 0  # of its answer
        self.permits = threading.Semaphore(0)
        self.killed = False
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
            while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
                printed.take(chunk)

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
            self.answer(START_DEADLINE)
        except WorkerLostError as error:
            self.fault = WorkerStartError(f"the worker does not start: it {error}")
            raise self.fault from error
        self.ready = True

    def packed(self, message: Mapping[str, Any], tensors: Mapping[str, Any]) -> bytes:
        """Return the frame of the next request, which must be sent before another is packed."""
        return protocol.encode({**message, "number": self.number + 1}, tensors)

    def packed_call(self, request: Request) -> bytes:
        """Return the frame of a call, if it is the next request."""
        return self.packed({"call": request.call}, request.tensors)

    def send(self, frame: bytes, deadline: float) -> None:
        """Send the next request; the worker must be ready.

        Raises:
            WorkerLostError: the worker has ended, or does not read in time.
        """
        self.number += 1
        stream = self.handle.stdin
        stopper = threading.Timer(deadline, self.handle.kill)  # a worker may have stopped reading
        stopper.daemon = True  # Ctrl-C may come before `cancel`
        stopper.start()
        try:
            stream.write(frame)
            stream.flush()
        except OSError as error:
            raise WorkerLostError("ended the process that graded it") from error
        finally:
            stopper.cancel()

    def answer(
        self,
        deadline: float,
        progress: Progress = lambda done, total: None,
        tensor_names: frozenset[str] | None = frozenset(),
        max_bytes: int = Limits().reply_bytes,
    ) -> Reply:
        """Wait for the answer to the last request; progress does not extend the deadline.

        Args:
            tensor_names: the names of the tensors that the answer may have; None: any.
            max_bytes: the size limit of the answer.

        Raises:
            WorkerLostError: there is none in time, or it is invalid.
        """
        self.max_bytes = max_bytes
        end = clock() + deadline
        try:
            for _ in range(MAX_PROGRESS):
                message, tensors = answers.decode(self._next_frame(end), tensor_names)
                if message.get("number") != self.number:
                    break
                if "progress" not in message:
                    return answers.as_reply(message, tensors)
                progress(*answers.as_progress(message["progress"]))
        except queue.Empty:
            raise WorkerHungError(f"took longer than {round(deadline, 1):g} seconds") from None
        except protocol.ProtocolError as error:
            raise answers.lost_by(error) from error
        raise WorkerLostError("wrote into the grader's channel")

    def kill(self) -> None:
        """End the process."""
        self.handle.kill()
        self.killed = True
        self.permits.release()  # so that the listener sees it
        for thread in self.threads:
            thread.join(1.0)  # until all that was printed is read
        self.handle.close()
