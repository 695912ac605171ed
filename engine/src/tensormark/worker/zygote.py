"""The zygote: a process that has imported torch and forks a child for each job. Worker side.

Started as a script, `python -I zygote.py SOCKET HARNESS FOLDERS...` (package folders), by slot.py,
in a container (tier `contained`) or without one (`locked`). It never runs a student's code and
never reads a job's contents: it passes the child the memory for the job and the answers, waits for
it, and reports its exit status to the trusted side. A child is forked ahead of its job, while
nobody is waiting; once it has a job, it locks itself down (lockdown.py), then imports the
submission and runs the calls.

Covered: a child inherits nothing from earlier jobs, and starts with torch warmed up; its exit
status comes from waitpid, not from its own report. Not covered: a bug in lockdown.py or in the
kernel would let a child take over this process, and with it later jobs of this slot.
"""

import array
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
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

if __name__ == "__main__":
    # `-I` keeps the environment, the current folder and this script's folder out of sys.path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    sys.path += [folder for folder in sys.argv[3:] if folder not in sys.path]

from tensormark.worker import lockdown, protocol, reply_buffer
from tensormark.worker.main import address_space, import_torch

MAX_MESSAGE = 1 << 18  # the first one lists a few hundred paths
DESCRIPTORS = 3  # sent with a job: its requests, the reply buffer, the pipe for printed output


def send(control: socket.socket, **message: Any) -> None:
    """Send a message to the trusted side."""
    control.send(json.dumps(message).encode())


def receive(control: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Wait for a message and its descriptors; exit if the sender is gone."""
    descriptors = array.array("i")
    space = socket.CMSG_SPACE(DESCRIPTORS * descriptors.itemsize)
    text, ancillary, _, _ = control.recvmsg(MAX_MESSAGE, space)
    if not text:
        os._exit(0)  # immediately: there is nothing to clean up
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    return json.loads(text), list(descriptors)


def freeze() -> None:
    """Keep children from collecting garbage among torch's objects, which would copy their pages."""
    gc.collect()
    gc.freeze()


def check_threads() -> None:
    """Check that there is one thread, as a fork copies only one.

    Raises:
        RuntimeError: there are more.
    """
    if len(os.listdir("/proc/self/task")) != 1:
        raise RuntimeError("more than one thread before a fork")


def _prepare(setup: dict[str, Any], harness: str) -> None:
    """Do work common to all children; add an overlay's constructor and file rules to the setup.

    Args:
        harness: the path of the assignment's harness.

    Raises:
        ValueError: something that the assignment forbids cannot be forbidden.
    """
    from tensormark.worker import forbidden  # imports torch
    from tensormark.worker.overlay import overlay_maker

    if (fault := forbidden.unenforceable(setup["rules"])) is not None:
        raise ValueError(fault)
    forbidden.prepare(setup["rules"])
    setup["overlay"] = overlay_maker(harness)
    lockdown.landlock_version()
    paths = setup["readable"], setup["listable"]
    setup["ruleset"] = lockdown.landlock_ruleset(*paths) if setup["lock"] else None
    freeze()


class Child:
    """A forked process that waits for one job, runs it and never returns."""

    def __init__(self, setup: dict[str, Any], zygote: socket.socket) -> None:
        self.setup, self.zygote = setup, zygote

    def run(self) -> NoReturn:
        """Receive a job, lock down, report that to the zygote, and run the job."""
        report_fd = self.zygote.fileno()
        try:
            os.setsid()
            lockdown.die_with_parent()
            self.job, descriptors = receive(self.zygote)
            try:
                content, buffer = self.take_job(descriptors)
            except BaseException as error:
                os.write(report_fd, f"{type(error).__name__}: {error}".encode()[:1000])
            else:
                os.write(report_fd, b"locked")  # not send: seccomp now forbids it
                os.close(report_fd)
                try:
                    self.serve(content, buffer)
                finally:  # a student may have replaced os._exit
                    buffer.put(reply_buffer.FINISHED, 1)
        finally:
            os._exit(0)  # skip exit handlers, do not wait for threads

    def take_job(self, descriptors: list[int]) -> tuple[bytes, reply_buffer.ReplyBuffer]:
        """Read the job and map the reply buffer; close everything else and lock down."""
        requests, answers, printed = descriptors
        size = reply_buffer.size(self.job["calls"], self.job["reply"])
        buffer = reply_buffer.ReplyBuffer(mmap.mmap(answers, size), self.job["reply"])
        content = os.pread(requests, os.fstat(requests).st_size, 0)
        for standard, target in enumerate((os.open(os.devnull, os.O_RDONLY), printed, printed)):
            os.dup2(target, standard)
        ruleset = self.setup["ruleset"]
        open_descriptors = sorted({self.zygote.fileno(), *([] if ruleset is None else [ruleset])})
        for below, above in itertools.pairwise([2, *open_descriptors, os.sysconf("SC_OPEN_MAX")]):
            os.closerange(below + 1, above)
        if ruleset is not None:
            names = ("core", "memory", "seconds", "files", "threads")
            compiled = base64.b64decode(self.setup["filter"])
            limits = {name: self.job[name] for name in names}
            limits["memory"] += address_space()
            lockdown.lock_down(ruleset, compiled, **limits)
        return content, buffer

    def serve(self, content: bytes, buffer: reply_buffer.ReplyBuffer) -> None:
        """Import the submission and run its calls, writing each answer to its slot."""
        import torch  # already imported

        torch.set_num_threads(self.job["torch_threads"])
        overlay = self.setup["overlay"]()

        def progress(done: int, total: int) -> None:
            buffer.put(reply_buffer.DONE, done)
            buffer.put(reply_buffer.TOTAL, total)

        for slot, (request, arrays) in enumerate(protocol.frames(io.BytesIO(content))):
            buffer.put(reply_buffer.BEGUN, slot)
            frame = overlay.answer(request, arrays, progress)
            if len(frame) > buffer.space:
                text = f"returned more than {buffer.space >> 20} MiB"
                number = request["number"]
                frame = protocol.encode({"number": number, "status": "error", "text": text})
            with contextlib.suppress(Exception):  # a student may have replaced or closed it
                sys.stdout.flush()
                os.write(1, reply_buffer.CALL_ENDS)
            buffer.write(slot, frame)
            if slot == 0 and protocol.decode(frame)[0].get("status") != "ok":
                return


def _watch(control: socket.socket, child: int) -> int:
    """Wait for a child to end; kill it on request, or if the trusted side is gone.

    Returns: its exit status, or minus the number of the signal that ended it.
    """
    descriptor = os.pidfd_open(child)
    try:
        while True:
            ready, _, _ = select.select([control.fileno(), descriptor], [], [])
            if descriptor in ready:
                _, status = os.waitpid(child, 0)
                return os.waitstatus_to_exitcode(status)
            os.kill(child, signal.SIGKILL)
            receive(control)  # whatever the message is
    finally:
        os.close(descriptor)


class _IdleChild(NamedTuple):
    """A child that waits for a job, and the socket that delivers it."""

    process: int
    link: socket.socket


def _fork_child(control: socket.socket, setup: dict[str, Any]) -> _IdleChild:
    """Fork the child for the next job ahead of time.

    Raises:
        RuntimeError: there is more than one thread.
    """
    check_threads()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    child = os.fork()
    if child == 0:
        control.close()
        ours.close()
        Child(setup, theirs).run()
    theirs.close()
    return _IdleChild(child, ours)


def _hand_over(child: _IdleChild, job: dict[str, Any], descriptors: list[int]) -> str | None:
    """Give a child its job; return why it cannot lock itself down, or None once it has."""
    reply = b""
    with contextlib.suppress(OSError), child.link:  # a child that has died replies nothing
        socket.send_fds(child.link, [json.dumps(job).encode()], descriptors)
        reply = child.link.recv(1000)  # before any of the student's code has run
    for descriptor in descriptors:
        os.close(descriptor)
    if reply == b"locked":
        return None
    os.waitpid(child.process, 0)
    return reply.decode("utf-8", "replace")


def _needed(setup: dict[str, Any], harness: str) -> list[str]:
    """Return what the user that a zygote switches to must be able to read, besides Python."""
    torch = importlib.util.find_spec("torch")
    packages = [str(Path(torch.origin).parent)] if torch and torch.origin else []
    checkpoint = [setup["checkpoint"]] if setup["checkpoint"] else []
    return [str(Path(__file__).parent), harness, *packages, *checkpoint]


def main() -> None:
    """Serve jobs until the trusted side is gone."""
    control = socket.socket(fileno=int(sys.argv[1]))
    setup, _ = receive(control)
    try:
        if setup["user"] is not None:
            lockdown.switch_user(setup["user"], _needed(setup, sys.argv[2]))
        import_torch()  # a harness imports whatever else its submissions need
        _prepare(setup, sys.argv[2])
        os.chdir(os.environ["HOME"])  # as in the tier `process`
    except Exception as error:
        send(control, fault=f"{error}")
        return
    send(control, ready=True)
    idle = _fork_child(control, setup)
    while True:
        job, descriptors = receive(control)
        if "calls" not in job:  # a request to kill a child that has already ended
            continue
        fault = _hand_over(idle, job, descriptors)
        child, idle = idle, _fork_child(control, setup)  # while the other one works
        if fault is not None:  # empty if the child had died before it got the job
            send(control, **({"fault": fault} if fault else {"died": True}))
            continue
        send(control, ended=_watch(control, child.process))


if __name__ == "__main__":
    main()
