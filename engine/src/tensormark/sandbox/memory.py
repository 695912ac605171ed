"""The memory files and pipes that carry a job and its answers. Trusted side."""

import contextlib
import fcntl
import os

from tensormark.sandbox.interface import CapturedOutput

PIPE = 1 << 20  # bytes of a pipe for printed output, an ordinary user's maximum


def request_file(content: bytes) -> int:
    """Return a memory file with a job's requests, sealed against changes."""
    descriptor = os.memfd_create("requests", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def answer_file(length: int) -> int:
    """Return an empty memory file for answers, sealed against resizing."""
    descriptor = os.memfd_create("answers", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, length)
    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def output_pipe() -> tuple[int, int]:
    """Return the ends of a pipe for printed output; reading from it never waits."""
    read_fd, write_fd = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    os.set_blocking(write_fd, True)
    with contextlib.suppress(OSError):  # this user already has too many large pipes
        fcntl.fcntl(read_fd, fcntl.F_SETPIPE_SZ, PIPE)
    return read_fd, write_fd


def discard(descriptor: int) -> None:
    """Empty a pipe without copying its contents."""
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.splice(descriptor, null, PIPE, flags=os.SPLICE_F_NONBLOCK)
    except BlockingIOError:  # it is empty
        pass
    finally:
        os.close(null)


def read_chunk(descriptor: int, printed: CapturedOutput) -> bool:
    """Read one chunk if there is one; say whether more may come."""
    try:
        chunk = os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return True
    printed.take(chunk)
    return bool(chunk)
