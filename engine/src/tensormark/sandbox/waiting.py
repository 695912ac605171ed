"""Workers of the tier `process` that wait with torch imported: for grading on each save.

On Linux one process imports torch and forks a worker for each grading, however soon the next one
comes. On other systems a fork may break the libraries that torch computes with (macOS's are not
made for it), and a worker is started after each grading, for the next one.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

from tensormark.sandbox.worker_process import (
    OWN_FOLDER,
    WORKER,
    Started,
    WorkerProcess,
    environment,
    new_folder,
)

FORKING = WORKER.with_name("forking.py")


class Waiting(Protocol):
    """Gives workers that need not import torch any more."""

    def take(self, threads: int) -> Started:
        """Return a worker."""

    def prepare(self) -> None:
        """Get ready for the next one, while nobody is waiting."""

    def close(self) -> None:
        """End what waits."""


class Spare:
    """A worker that is started before it is needed."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.next: WorkerProcess | None = WorkerProcess(threads)

    def take(self, threads: int) -> Started:
        """Return the spare worker, or a new one."""
        taken, self.next = self.next, None
        return taken or WorkerProcess(threads)

    def prepare(self) -> None:
        """Start a worker, unless there is one."""
        self.next = self.next or WorkerProcess(self.threads)

    def close(self) -> None:
        """End the spare worker."""
        if self.next is not None:
            self.next.close()
            for stream in (self.next.stdout, self.next.stderr):
                stream.close()
        self.next = None


class Forked:
    """A worker that a process which has imported torch forks."""

    def __init__(
        self, send: Callable[[dict[str, Any], list[int]], None], end: Callable[[], None]
    ) -> None:
        """Have it forked.

        Args:
            send: sends the order and the streams. end: ends the worker, and waits for that.
        """
        self.folder, self.end = new_folder(), end
        self.lock, self.alive, self.closed = threading.Lock(), True, False
        (request_fd, stdin), (stdout, reply_fd), (stderr, printed_fd) = (os.pipe() for _ in "123")
        theirs = [request_fd, reply_fd, printed_fd]
        self.stdin: BinaryIO = os.fdopen(stdin, "wb")
        self.stdout: BinaryIO = os.fdopen(stdout, "rb")
        self.stderr: BinaryIO = os.fdopen(stderr, "rb")
        try:
            own = dict.fromkeys(OWN_FOLDER, self.folder.name)
            send({"folder": self.folder.name, "environment": own}, theirs)
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    def kill(self) -> None:
        """End it; a second time does nothing."""
        with self.lock:
            if self.alive:
                self.alive = False
                self.end()

    def close(self) -> None:
        """End it and remove its folder; a second time does nothing."""
        self.kill()
        with contextlib.suppress(OSError):  # there may be unsent bytes that nobody will read
            self.stdin.close()
        self.folder.cleanup()


class Forking:
    """The process that has imported torch and forks a worker for each grading."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.start()

    def start(self) -> None:
        """Start the process."""
        self.folder = new_folder()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-B", str(FORKING), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self.folder.name,
                env=environment(self.threads, self.folder.name),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def take(self, threads: int) -> Started:
        """Have a worker forked, if need be by a new process."""
        if threads != self.threads:
            return WorkerProcess(threads)
        self.prepare()
        return Forked(self.send, self.end)

    def send(self, order: dict[str, Any], descriptors: list[int]) -> None:
        """Send an order; if the process has died, the worker's streams end at once."""
        with contextlib.suppress(OSError):
            socket.send_fds(self.control, [json.dumps(order).encode()], descriptors)

    def end(self) -> None:
        """Have the worker ended, and wait for it; or it has ended with the process."""
        with contextlib.suppress(OSError):
            self.control.send(b"{}")
            self.control.recv(1000)

    def prepare(self) -> None:
        """Start another process, if this one has died."""
        if self.process.poll() is not None:
            self.close()
            self.start()

    def close(self) -> None:
        """End the process; its worker ends with it."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def waiting(threads: int) -> Waiting:
    """Start what suits this system.

    Args:
        threads: of torch.
    """
    return Forking(threads) if sys.platform.startswith("linux") else Spare(threads)
