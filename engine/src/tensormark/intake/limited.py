"""The process in which everything handed in is read and parsed: `python -I -S limited.py`.

It stays running and reads one request per line from standard input: which job to do, with which
arguments, and in how many seconds of processor time. Each job runs in a child process, which writes
one line of JSON; one more line has its exit status.

Covered: processor time, memory and file writes are limited, because hostile input can make archive
readers, the parser and the compiler take quadratic time or expand data a thousandfold.
"""

import gc
import json
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # `-I` keeps the environment, the current folder and this script's folder out of sys.path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tensormark.intake.outline import outline
from tensormark.intake.reading import read
from tensormark.intake.sources import inspect

MEMORY = 160 << 20  # bytes of address space
JOBS: Mapping[str, Callable[..., Any]] = {"read": read, "inspect": inspect, "outline": outline}


def limit(seconds: float) -> None:
    """Limit what this process may use."""
    signal.setitimer(signal.ITIMER_PROF, seconds)  # whose signal ends the process
    limits = [
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CPU, int(seconds) + 2),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ]
    for kind, bound in limits:
        hard = resource.getrlimit(kind)[1]
        bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (bound, bound))


def do(line: bytes) -> None:
    """Do a job in this process, and write its answer."""
    request = json.loads(line)
    limit(request["seconds"])
    answer = JOBS[request["job"]](**request["arguments"])
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()


def do_in_child(line: bytes) -> int:
    """Do a job in a child process; return its exit status."""
    child = os.fork()
    if not child:
        status = 1
        try:
            do(line)
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def main() -> None:
    """Do jobs until standard input is closed."""
    warnings.simplefilter("ignore")  # about a student's code; they would be printed unescaped
    gc.freeze()
    for line in sys.stdin.buffer:
        status = do_in_child(line)
        sys.stdout.write(f"\n{status}\n")  # the child may have died within its line
        sys.stdout.flush()


if __name__ == "__main__":
    main()
