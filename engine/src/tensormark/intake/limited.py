"""The process in which everything handed in is read and parsed: `python -I -S limited.py`.

It stays running and reads one request per line from standard input: which job to do, and in how
many seconds of processor time. Each job runs in a child process, which writes lines of JSON and
exits; one more line says how. Without fork, this process does one job itself and exits.

Covered: processor time, memory and file writes are limited, because hostile input can make archive
readers, the parser and the compiler take quadratic time or expand data a thousandfold.
Not covered: systems without such limits, where people grade their own code.
"""

import gc
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # `-I` keeps the environment, the current folder and this script's folder out of sys.path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tensormark.intake.inspector import inspection
from tensormark.intake.reading import read

MEMORY = 160 << 20  # bytes of address space
JOBS: Mapping[str, Callable[[Any], Iterator[Mapping[str, Any]]]] = {
    "read": read,
    "inspect": inspection,
}


def limit(seconds: float) -> None:
    """Limit what this process may use, if the system supports such limits."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)  # whose signal ends the process
    try:
        import resource  # missing on Windows
    except ImportError:
        return
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


def _write(row: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


def _do(line: bytes) -> None:
    request = json.loads(line)
    limit(request["seconds"])
    for row in JOBS[request["job"]](request):
        _write(row)


def _in_child(line: bytes) -> None:
    child = os.fork()
    if not child:
        status = 1
        try:
            _do(line)
            status = 0
        finally:
            os._exit(status)
    _, ended, used = os.wait4(child, 0)
    # the child may have died within a line
    sys.stdout.write("\n")
    seconds, peak = used.ru_utime + used.ru_stime, used.ru_maxrss
    _write({"ended": ended, "seconds": seconds, "peak": peak})


def main() -> None:
    """Do jobs until standard input is closed."""
    warnings.simplefilter("ignore")  # about a student's code; they would be printed unescaped
    gc.freeze()
    _write({"ready": True})
    for line in sys.stdin.buffer:
        if hasattr(os, "fork"):
            _in_child(line)
        else:
            _do(line)
            _write({"ended": 0})
            return


if __name__ == "__main__":
    main()
