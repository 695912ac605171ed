"""The worker: a process that runs a student's code. It returns tensors, never verdicts.

Started as a script, `python -P -s main.py`, by the tier `process`. It communicates over its
original stdin and stdout, which it moves out of reach of `print` and `input` before it loads any
student's code. The submission and the given files arrive as text and are imported from memory
(overlay.py).

Covered: a submission cannot break the protocol by printing or reading. Not covered here: attacks of
a hostile submission on this process; isolation is the sandbox's job.
"""

import contextlib
import gc
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if __name__ == "__main__":
    # `-P -s` keeps the current folder, the user's and this script's out of sys.path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tensormark.worker import protocol, scratch, surroundings
from tensormark.worker.reply_buffer import ReplyBuffer

if TYPE_CHECKING:
    from tensormark.worker.overlay import Overlay

NewOverlay = Callable[[], "Overlay"]
MEMORY = 16 << 30  # bytes of address space besides torch's; a real model with gradients takes 4


def take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Move the protocol's streams to new descriptors: print goes to stderr, input reads EOF."""
    requests = os.dup(0)
    replies = os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    return os.fdopen(requests, "rb"), os.fdopen(replies, "wb")


def address_space() -> int:
    """Return the bytes that this process has mapped, if the system tells.

    Limits are on top of these, since builds of torch differ by gigabytes.
    """
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def limit_resources(limits: Mapping[str, int]) -> None:
    """Lower resource limits for good; torch must be imported.

    Args:
        limits: names of the module `resource` to limits.
    """
    import resource  # missing on Windows

    for name, bound in limits.items():
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        lower = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (lower, lower))


def limit_process() -> None:
    """Limit memory and files; forbid core dumps, if the system supports such limits."""
    with contextlib.suppress(ImportError):
        memory = address_space() + MEMORY
        limits = {"RLIMIT_AS": memory, "RLIMIT_CORE": 0, "RLIMIT_FSIZE": scratch.MAX_FILE}
        limit_resources(limits)


def import_torch() -> None:
    """Import torch, where it is installed, and whatever else every submission needs.

    Meanwhile no garbage is collected, which would take a tenth of the time and find hardly any.
    Afterwards torch's objects are left alone, or a child would copy the pages that they are in.
    """
    gc.disable()
    from tensormark.worker import overlay  # noqa: F401
    from tensormark.worker.optional_torch import torch

    if torch:
        from tensormark.worker import warm

        warm.spare_dynamo()
        warm.compile_nothing()
        warm.use_torch()
    gc.freeze()
    gc.enable()


def set_threads(count: int) -> None:
    """Set the number of torch's threads, if it is imported."""
    torch = sys.modules.get("torch")
    if torch:
        torch.set_num_threads(count)


class PipeReplies:
    """Writes answers, and reports of progress, to a pipe."""

    separator = b""  # what calls print need not be told apart

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.number = 0  # of the present request

    def begin(self, number: int) -> None:
        """Begin to answer a request."""
        self.number = number

    def progress(self, done: int, total: int) -> None:
        """Report how many steps are done."""
        report = {"number": self.number, "status": "ok", "progress": [done, total]}
        self.write(self.number, protocol.encode(report))

    def write(self, number: int, frame: bytes) -> None:
        """Write an answer."""
        self.stream.write(frame)
        self.stream.flush()


Requests = Iterable[tuple[protocol.Message, protocol.Tensors]]


def serve(requests: Requests, replies: PipeReplies | ReplyBuffer, overlay: "Overlay") -> None:
    """Answer requests, the first of which loads a submission."""
    for request, arrays in requests:
        number = request["number"]
        replies.begin(number)
        frame = overlay.answer(request, arrays, replies.progress)
        with contextlib.suppress(Exception):  # a submission may have replaced or closed it
            sys.stdout.flush()
            os.write(1, replies.separator)
        replies.write(number, frame)


def serve_pipes(
    requests: BinaryIO, stream: BinaryIO, new_overlay: NewOverlay | None = None
) -> None:
    """Answer requests until their stream ends; torch is imported.

    Args:
        new_overlay: see overlay_maker; None: the first request names the harness.
    """
    set_threads(int(os.environ["WORKER_THREADS"]))
    replies = PipeReplies(stream)
    surroundings.stay_in(os.getcwd())
    replies.write(0, protocol.encode({"number": 0, "status": "ok"}))  # it is ready
    frames = protocol.frames(requests)
    for first in frames:
        if new_overlay is None:
            # only here: a forked worker's grader is hidden already, and this would undo that
            from tensormark.worker.overlay import overlay_maker

            new_overlay = overlay_maker(first[0]["harness"])
        serve(itertools.chain([first], frames), replies, new_overlay())


def main() -> None:
    """Import torch and serve requests."""
    streams = take_streams()
    import_torch()
    limit_process()
    serve_pipes(*streams)


if __name__ == "__main__":
    main()
