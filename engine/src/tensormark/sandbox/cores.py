"""A processor core for each job of one thread; jobs that run at the same time have different ones.

Covered: graders on the same machine, in any number of processes. While its job runs, each holds the
name of an abstract socket, which only one process can have; the kernel frees it when the process
ends. Not covered: more jobs than cores; those share one.
"""

import contextlib
import os
import random
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def core_for(threads: int) -> Iterator[int | None]:
    """Hold a core that no other job has, or share one if none is free; None for several threads."""
    if threads > 1:
        yield None
        return
    cores = sorted(os.sched_getaffinity(0))
    random.shuffle(cores)
    with contextlib.ExitStack() as sockets:
        for core in cores:
            name = sockets.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):  # somebody else has it
                name.bind(f"\0grader-core-{core}")
                yield core
                return
        yield cores[0]
