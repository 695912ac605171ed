"""The fork server: a process that has imported torch and forks a child for each job. Worker side.

Started as a script, `python -P -s fork_server.py SOCKET FOLDERS...` (package folders), by
sandbox/fork_server.py, on Linux: in a container (tier `contained`), without one (`locked`), or, for
the tier `process`, as an ordinary process. It never runs a student's code and never reads a job's
contents: it passes the child the descriptors, waits for it, and reports its exit status to the
trusted side. In an isolating tier, a child is forked ahead of its job, while nobody is waiting; it
locks itself down once it has a job (lockdown.py), then imports the submission and runs the calls.
In `process`, it serves requests as main.py does, in its own folder.

Covered: a child inherits nothing from earlier jobs, starts with torch warmed up, and ends with this
process; its exit status comes from waitpid, not from its own report. Not covered: a bug in
lockdown.py or in the kernel would let a child take over this process, and with it later jobs.
"""

import base64
import contextlib
import gc
import importlib.util
import io
import itertools
import json
import mmap
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

if __name__ == "__main__":
    # `-P -s` keeps the current folder, the user's and this script's out of sys.path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    sys.path += [folder for folder in sys.argv[2:] if folder not in sys.path]

from tensormark.worker import lockdown, main, protocol, reply_buffer, scratch, surroundings

MAX_MESSAGE = 1 << 18  # the first one lists a few hundred paths
DESCRIPTORS = 3  # sent with a job: of its requests, of its answers, for printed output
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


def check_threads() -> None:
    """Check that there is one thread, as a fork copies only one.

    Raises:
        RuntimeError: there are more.
    """
    if len(os.listdir("/proc/self/task")) != 1:
        raise RuntimeError("more than one thread before a fork")


class _IdleChild(NamedTuple):
    """A child that waits for a job, and the socket that delivers it."""

    process: int
    link: socket.socket

    def hand_over(self, job: dict[str, Any], descriptors: list[int]) -> str | None:
        """Give it a job; return why it cannot begin, or None once it has."""
        reply = b""
        with contextlib.suppress(OSError), self.link:  # a child that has died replies nothing
            socket.send_fds(self.link, [json.dumps(job).encode()], descriptors)
            reply = self.link.recv(1000)  # before any of the student's code has run
        for descriptor in descriptors:
            os.close(descriptor)
        if reply == READY:
            return None
        os.waitpid(self.process, 0)
        return reply.decode("utf-8", "replace")


class Server:
    """Forks children and watches them.

    Attributes:
        filter: the system call filter, for the isolating tiers.
        ruleset: a descriptor of what may be read and written, likewise.
        folder: where children may write, likewise.
        new_overlay: see overlay_maker; None: the child loads the harness that its work names.
        idle: a child that was forked ahead of its job, while nobody was waiting.
    """

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.filter = b""
        self.ruleset: int | None = None
        self.folder = os.path.join(os.environ["HOME"], scratch.NAME)
        self.new_overlay: main.NewOverlay | None = None
        self.idle: _IdleChild | None = None

    def load(self, harness: str, rules: dict[str, str]) -> str | None:
        """Look up what is forbidden, and load the assignment's harness.

        Children will not collect torch's objects as garbage, which would copy their pages.

        Returns: what cannot be forbidden, and why; None: all can be.
        """
        from tensormark.worker import forbidden, overlay  # imports torch

        fault = forbidden.prepare(rules)
        self.new_overlay = overlay.overlay_maker(harness)
        gc.collect()
        gc.freeze()
        return fault

    def isolate(self, order: dict[str, Any]) -> None:
        """Do work common to all children of an isolating tier.

        Raises:
            ValueError: something that the assignment forbids cannot be forbidden.
        """
        fault = self.load(order["harness"], order["rules"])
        if fault is not None:
            raise ValueError(fault)
        lockdown.landlock_version()
        self.filter = base64.b64decode(order["filter"])
        os.mkdir(self.folder, 0o700)
        self.ruleset = lockdown.landlock_ruleset(
            order["readable"], order["listable"], [self.folder]
        )

    def run(self) -> NoReturn:
        """Serve until the trusted side is gone."""
        self.fork_ahead()
        while True:
            order, descriptors = receive(self.control)
            if "harness" in order:
                self.load(order["harness"], order["rules"])  # each worker tells of a fault
                check_threads()
                send(self.control, loaded=True)
            elif descriptors:  # otherwise a request to kill a child that has already ended
                self.run_job(order, descriptors)

    def fork_ahead(self) -> None:
        """Fork the child for the next job, in an isolating tier."""
        self.idle = self.fork() if self.ruleset is not None else None

    def fork(self, descriptors: Sequence[int] = ()) -> _IdleChild:
        """Fork a child that waits for a job.

        Args:
            descriptors: of a job that has come already, which the child gets with it.

        Raises:
            RuntimeError: there is more than one thread.
        """
        check_threads()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        child = os.fork()
        if child == 0:
            for descriptor in (self.control.detach(), ours.detach(), *descriptors):
                os.close(descriptor)
            self.be_child(theirs)
        theirs.close()
        return _IdleChild(child, ours)

    def run_job(self, job: dict[str, Any], descriptors: list[int]) -> None:
        """Have a child run a job; report how that ended."""
        child = self.idle or self.fork(descriptors)
        fault = child.hand_over(job, descriptors)
        self.fork_ahead()  # while the other one works
        if fault is None:
            send(self.control, ended=self.watch(child.process))
            if self.ruleset is not None:
                scratch.empty(self.folder)  # if that fails, this process ends
        elif fault:
            send(self.control, fault=fault)
        else:  # it had died before it got the job
            send(self.control, died=True)

    def watch(self, child: int) -> int:
        """Wait for a child to end; kill its group on request, or if the trusted side is gone.

        It is also killed once it has written too much.

        Returns: its exit status, or minus the number of the signal that ended it.
        """
        descriptor = os.pidfd_open(child)
        interval = None if self.ruleset is None else scratch.INTERVAL
        control = self.control.fileno()
        try:
            while True:
                ready, _, _ = select.select([control, descriptor], [], [], interval)
                if descriptor in ready:
                    _, status = os.waitpid(child, 0)
                    return os.waitstatus_to_exitcode(status)
                if control in ready or scratch.is_full(self.folder):
                    os.killpg(child, signal.SIGKILL)
                if control in ready:
                    receive(self.control)  # whatever the message is
        finally:
            os.close(descriptor)

    # --- in a child -----------------------------------------------------------------------------

    def be_child(self, link: socket.socket) -> NoReturn:
        """Receive a job, report that to the server, and run the job."""
        try:
            os.setsid()
            lockdown.die_with_parent()
            job, descriptors = receive(link)
            if "calls" in job:
                self.run_calls(link, job, descriptors)
            else:
                self.be_worker(link, job, descriptors)
        finally:
            os._exit(0)  # skip exit handlers, do not wait for threads

    def be_worker(self, link: socket.socket, job: dict[str, Any], descriptors: list[int]) -> None:
        """Serve requests from a pipe until it ends."""
        for standard, descriptor in enumerate(descriptors):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        os.chdir(job["folder"])
        link.send(READY)
        link.close()
        main.serve_pipes(*main.take_streams(), self.new_overlay)

    def run_calls(self, link: socket.socket, job: dict[str, Any], descriptors: list[int]) -> None:
        """Lock down, report that, and run the job's calls."""
        report_fd = link.fileno()
        try:
            content, buffer = self.take_job(report_fd, job, descriptors)
        except BaseException as error:
            os.write(report_fd, f"{type(error).__name__}: {error}".encode()[:1000])
            return
        os.write(report_fd, READY)  # not send: seccomp now forbids it
        os.close(report_fd)
        try:
            main.set_threads(job["torch_threads"])
            assert self.new_overlay is not None
            surroundings.stay_in(self.folder)
            main.serve(protocol.frames(io.BytesIO(content)), buffer, self.new_overlay())
        finally:  # a student may have replaced os._exit
            buffer.put(reply_buffer.FINISHED, 1)

    def take_job(
        self, report_fd: int, job: dict[str, Any], descriptors: list[int]
    ) -> tuple[bytes, reply_buffer.ReplyBuffer]:
        """Read the job and map the reply buffer; close everything else and lock down."""
        requests, answers, printed = descriptors
        size = reply_buffer.size(job["calls"], job["reply"])
        buffer = reply_buffer.ReplyBuffer(mmap.mmap(answers, size), job["reply"])
        content = os.pread(requests, os.fstat(requests).st_size, 0)
        for standard, target in enumerate((os.open(os.devnull, os.O_RDONLY), printed, printed)):
            os.dup2(target, standard)
        assert self.ruleset is not None
        kept = sorted({report_fd, self.ruleset})
        for below, above in itertools.pairwise([2, *kept, os.sysconf("SC_OPEN_MAX")]):
            os.closerange(below + 1, above)
        limits = job["limits"]
        limits["memory"] += main.address_space()
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
    server = Server(control)
    try:
        if order.get("user") is not None:
            lockdown.switch_user(order["user"], _needed(order))
        main.import_torch()  # a harness imports whatever else its submissions need
        if "filter" in order:
            server.isolate(order)
        else:
            main.limit_process()
        os.chdir(os.environ["HOME"])  # as in the tier `process`
    except Exception as error:
        send(control, fault=f"{error}")
        return
    send(control, ready=True)
    server.run()


if __name__ == "__main__":
    run()
