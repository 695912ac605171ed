"""A processor core for each job of one thread; jobs at the same time have different ones.

Covered: graders on the same machine, in any number of processes. Each holds a name that only one of
them can have, an abstract socket's, for as long as its job runs; the kernel takes it back when the
process ends. Not covered: more jobs than cores; those share one.
"""

import contextlib
import os
import random
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def core_for(threads: int) -> Iterator[int | None]:
    """Hold a core that no other job has, if there is one, or any; None for several threads."""
    if threads > 1:
        yield None
        return
    cores = sorted(os.sched_getaffinity(0))
    random.shuffle(cores)
    with contextlib.ExitStack() as opened:
        for number in cores:
            name = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):  # somebody else has it
                name.bind(f"\0grader-core-{number}")
                yield number
                return
        yield cores[0]
