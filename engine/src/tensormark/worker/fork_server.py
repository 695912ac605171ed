"""The worker: a process that has imported torch and forks a child for each job. Worker side.

Started as a script, `python -P -s fork_server.py SOCKET FOLDERS...` (package folders), by
sandbox/server.py, in a container or without one. It never runs a student's code and never reads a
job's contents: it passes the child the descriptors, waits for it, and reports its end to the
trusted side. A child is forked ahead of its job, while nobody is waiting.

In an isolating tier, a child locks itself down once it has a job (lockdown.py), imports the
submission, runs the calls and ends. In `process`, it waits for more jobs of the same submission.
Where a system cannot fork once torch is imported, this process does jobs itself, until it is
killed.

Covered: a child inherits nothing from earlier submissions, starts with torch warmed up, and ends
with this process; that it has ended comes from the kernel, not from its own report. Nothing that
it prints can be mistaken for an answer. Not covered: a bug in lockdown.py or in the kernel would
let a child take over this process, and with it later jobs.
"""

import base64
import contextlib
import gc
import importlib.util
import itertools
import json
import mmap
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if __name__ == "__main__":
    # `-P -s` keeps the current folder, the user's and this script's out of sys.path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    sys.path += [folder for folder in sys.argv[2:] if folder not in sys.path]

from tensormark.worker import lockdown, prepare, protocol, reply_buffer, scratch, surroundings
from tensormark.worker.reply_buffer import CALL_ENDS, FINISHED, ReplyBuffer

if TYPE_CHECKING:
    from tensormark.worker.overlay import Overlay

MAX_MESSAGE = 1 << 18  # the first one lists a few hundred paths
DESCRIPTORS = 2  # sent with a job: of its memory, and for printed output
READY = b"ready"  # what a child replies once it has its job and is locked down


def send(control: socket.socket, **message: Any) -> None:
    """Send a message to the trusted side."""
    control.send(json.dumps(message).encode())


def receive(control: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Wait for a message and its descriptors; exit if the sender is gone."""
    text, descriptors, _, _ = socket.recv_fds(control, MAX_MESSAGE, DESCRIPTORS)
    if not text:
        os._exit(0)  # immediately: there is nothing to clean up
    return json.loads(text), descriptors


def close(descriptors: list[int]) -> None:
    """Close descriptors."""
    for descriptor in descriptors:
        os.close(descriptor)


def check_threads() -> None:
    """Check that there is one thread, as a fork copies only one.

    Raises:
        RuntimeError: there are more.
    """
    if len(os.listdir("/proc/self/task")) != 1:
        raise RuntimeError("more than one thread before a fork")


def serve(content: bytes, lengths: Iterable[int], buffer: ReplyBuffer, overlay: "Overlay") -> None:
    """Answer the requests of a job, of which the content holds one after another."""
    begin = 0
    for length in lengths:
        request, arrays = protocol.decode(content[begin : begin + length])
        begin += length
        buffer.begin(request["number"])
        frame = overlay.answer(request, arrays, buffer.progress)
        with contextlib.suppress(Exception):  # a submission may have replaced or closed it
            sys.stdout.flush()
        buffer.write(request["number"], frame)
        with contextlib.suppress(Exception):
            os.write(1, CALL_ENDS)  # which also tells the trusted side to look


class _Child(NamedTuple):
    """A child, and the socket that delivers its jobs."""

    process: int
    link: socket.socket

    def hand_over(self, job: dict[str, Any], descriptors: list[int]) -> None:
        """Give it a job."""
        with contextlib.suppress(OSError):  # it has died
            socket.send_fds(self.link, [json.dumps(job).encode()], descriptors)
        close(descriptors)

    def fault(self) -> str | None:
        """Return why it cannot begin its first job, or None once it has."""
        reply = b""
        with contextlib.suppress(OSError):  # a child that has died replies nothing
            reply = self.link.recv(1000)  # before any of the student's code has run
        return None if reply == READY else reply.decode("utf-8", "replace")


class ForkServer:
    """Forks children and watches them.

    Attributes:
        filter: the system call filter, for the isolating tiers.
        ruleset: a descriptor of what may be read and written, likewise; None: nothing is locked.
        folder: where children may write.
        new_overlay: see overlay_maker; None: the first job names the harness.
        idle: a child that was forked ahead of its job, while nobody was waiting.
    """

    idle: _Child

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.filter = b""
        self.ruleset: int | None = None
        self.folder = os.path.join(os.environ["HOME"], scratch.NAME)
        os.mkdir(self.folder, 0o700)
        self.new_overlay: Callable[[], Overlay] | None = None

    def isolate(self, order: dict[str, Any]) -> None:
        """Do work common to all children of an isolating tier.

        They will not collect torch's objects as garbage, which would copy their pages.

        Raises:
            ValueError: what the assignment forbids cannot be forbidden, or its harness cannot be
                imported.
        """
        from tensormark.worker import forbidden, overlay  # imports torch

        fault = forbidden.prepare(order["rules"])
        if fault is not None:
            raise ValueError(fault)
        try:
            self.new_overlay = overlay.overlay_maker(order["harness"])
        except Exception as error:
            says = f"{order['harness']} cannot be imported: {type(error).__name__}: {error}"
            raise ValueError(says) from error
        gc.collect()
        gc.freeze()
        lockdown.landlock_version()
        self.filter = base64.b64decode(order["filter"])
        self.ruleset = lockdown.landlock_ruleset(
            order["readable"], order["listable"], [self.folder]
        )

    def run(self) -> NoReturn:
        """Serve until the trusted side is gone."""
        self.idle = self.fork()
        while True:
            job, descriptors = receive(self.control)
            if job.get("is_first"):
                self.run_job(job, descriptors)
            else:  # to a child that has ended, as was reported
                close(descriptors)

    def fork(self) -> _Child:
        """Fork a child that waits for a job.

        Raises:
            RuntimeError: there is more than one thread.
        """
        check_threads()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        child = os.fork()
        if child == 0:
            self.control.close()
            ours.close()
            self.be_child(theirs)
        theirs.close()
        return _Child(child, ours)

    def run_job(self, job: dict[str, Any], descriptors: list[int]) -> None:
        """Have a child run a job; report how that ended."""
        child = self.idle
        child.hand_over(job, descriptors)
        fault = child.fault()
        self.idle = self.fork()  # while the other one works
        if fault is None:
            self.watch(child)
            send(self.control, ended=True)
            scratch.empty(self.folder)  # if that fails, this process ends
        else:  # "" if it had died before it got the job
            os.waitpid(child.process, 0)
            send(self.control, **({"fault": fault} if fault else {"died": True}))
        child.link.close()

    def watch(self, child: _Child) -> None:
        """Wait for a child to end; kill its group on request, or if the trusted side is gone.

        It is also killed once it has written too much, in an isolating tier; otherwise, it may be
        given more jobs.
        """
        descriptor = os.pidfd_open(child.process)
        interval = None if self.ruleset is None else scratch.INTERVAL
        control = self.control.fileno()
        try:
            while True:
                ready, _, _ = select.select([control, descriptor], [], [], interval)
                if descriptor in ready:
                    os.waitpid(child.process, 0)
                    return
                if not ready and not scratch.is_full(self.folder):
                    continue
                order, descriptors = receive(self.control) if ready else ({}, [])
                if descriptors:
                    child.hand_over(order, descriptors)
                else:
                    os.killpg(child.process, signal.SIGKILL)
        finally:
            os.close(descriptor)

    # --- in a child, or in this process if it cannot fork ---------------------------------------

    def be_child(self, link: socket.socket) -> NoReturn:
        """Run jobs."""
        try:
            os.setsid()
            lockdown.die_with_parent()
            self.serve(link)
        finally:
            os._exit(0)  # skip exit handlers, do not wait for threads

    def serve(self, link: socket.socket) -> None:
        """Run jobs: in an isolating tier one, after the lockdown, whose outcome is reported."""
        overlay: Overlay | None = None
        while True:
            job, descriptors = receive(link)
            fault = "a child cannot be locked down"
            try:
                content, buffer = self.take_job(link.fileno(), job, descriptors)
                prepare.set_threads(job["torch_threads"])
                if overlay is None:
                    fault = f"{job['harness']} cannot be imported"
                    surroundings.stay_in(self.folder)
                    overlay = self.overlay_for(job["harness"])
            except BaseException as error:
                text = f"{fault}: {type(error).__name__}: {error}"
                os.write(link.fileno(), text.encode()[:1000])
                return
            if job["is_first"]:
                os.write(link.fileno(), READY)  # not send: seccomp now forbids it
            if self.ruleset is not None:
                link.close()
            try:
                serve(content, job["requests"], buffer, overlay)
            finally:  # a student may have replaced os._exit
                buffer.put(FINISHED, 1)
            if self.ruleset is not None:
                return

    def overlay_for(self, harness: str) -> "Overlay":
        """Return what runs calls; in an isolating tier, the harness is loaded already."""
        if self.new_overlay is None:
            from tensormark.worker.overlay import overlay_maker  # imports torch

            self.new_overlay = overlay_maker(harness)
        return self.new_overlay()

    def take_job(
        self, report_fd: int, job: dict[str, Any], descriptors: list[int]
    ) -> tuple[bytes, ReplyBuffer]:
        """Map a job's memory and read its requests; to isolate it, close the rest, lock down."""
        shared, printed = descriptors
        size = reply_buffer.size(job["calls"], job["reply"])
        memory = mmap.mmap(shared, size + sum(job["requests"]))
        buffer = ReplyBuffer(memory, job["reply"])
        content = memory[size:]
        null = os.open(os.devnull, os.O_RDONLY)
        for standard, target in enumerate((null, printed, printed)):
            os.dup2(target, standard)
        if self.ruleset is None:
            close([null, *descriptors])
            return content, buffer
        kept = sorted({report_fd, self.ruleset})
        for below, above in itertools.pairwise([2, *kept, os.sysconf("SC_OPEN_MAX")]):
            os.closerange(below + 1, above)
        limits = job["limits"]
        limits["memory"] += prepare.address_space()
        lockdown.lock_down(self.ruleset, self.filter, **limits)
        return content, buffer


def _needed(order: dict[str, Any]) -> list[str]:
    """Return what the user that this process switches to must be able to read, besides Python."""
    torch = importlib.util.find_spec("torch")
    packages = [str(Path(torch.origin).parent)] if torch and torch.origin else []
    checkpoint = [order["checkpoint"]] if order["checkpoint"] else []
    return [str(Path(__file__).parent), order["harness"], *packages, *checkpoint]


def run() -> None:
    """Prepare, and serve until the trusted side is gone."""
    control = socket.socket(fileno=int(sys.argv[1]))
    order, _ = receive(control)
    try:
        if order.get("user") is not None:
            lockdown.switch_user(order["user"], _needed(order))
        prepare.import_torch()  # a harness imports whatever else its submissions need
        server = ForkServer(control)
        if "filter" in order:
            server.isolate(order)
        else:
            prepare.limit_process()
        os.chdir(os.environ["HOME"])
    except Exception as error:
        send(control, fault=f"{error}")
        return
    send(control, ready=True)
    if order["forks"]:
        server.run()
    server.serve(control)


if __name__ == "__main__":
    run()
