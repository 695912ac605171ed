"""A processor core for each single-threaded job; concurrent jobs get different cores.

Covered: graders on the same machine, in any number of processes. While its job runs, each holds the
name of an abstract socket, which only one process can have; the kernel frees it when the process
ends. Not covered: more jobs than cores; the extra jobs share cores.
"""

import contextlib
import os
import random
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def core_for(threads: int) -> Iterator[int | None]:
    """Reserve a core, or share one if none is free; None for several threads."""
    if threads > 1:
        yield None
        return
    cores = sorted(os.sched_getaffinity(0))
    random.shuffle(cores)
    with contextlib.ExitStack() as sockets:
        for core in cores:
            name = sockets.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):  # another job has it
                name.bind(f"\0grader-core-{core}")
                yield core
                return
        yield cores[0]
