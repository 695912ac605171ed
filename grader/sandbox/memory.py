"""The memory files and pipes that carry a job and its answers. Trusted side."""

import fcntl
import os

from grader.sandbox.interface import CapturedOutput


def sealed(content: bytes) -> int:
    """Return a memory file with this content, sealed against changes."""
    descriptor = os.memfd_create("requests", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def of_size(length: int) -> int:
    """Return a memory file of this size, sealed against resizing."""
    descriptor = os.memfd_create("answers", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, length)
    seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def read_chunk(descriptor: int, printed: CapturedOutput) -> bool:
    """Read one chunk of what is available; say whether there may be more later."""
    try:
        chunk = os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return True
    printed.take(chunk)
    return bool(chunk)
