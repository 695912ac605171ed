"""Measures what a command costs, all its processes included: time, processor time and memory."""

import contextlib
import ctypes
import os
import resource
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

INTERVAL = 0.1  # seconds between two samples
PR_SET_CHILD_SUBREAPER = 36
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """What a command cost: the seconds to its first line, and the megabytes at its peak."""

    first_line: float
    seconds: float
    processor: float
    memory: float


def descendants(process: int) -> Iterator[int]:
    """Yield all descendants of a process."""
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it has just ended
            for child in map(int, path.read_text(encoding="ascii").split()):
                yield child
                yield from descendants(child)


def _processor(process: int) -> float:
    """Return the processor seconds of a process and its ended children."""
    text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    return sum(map(int, text.rpartition(")")[2].split()[11:15])) / TICKS_PER_SECOND


def _memory(process: int) -> float:
    """Return the megabytes of a process, with its part of the pages that it shares."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def _now() -> tuple[float, float]:
    """Return the processor seconds and megabytes of all descendants of this process."""
    processor = 0.0
    memory = 0.0
    for process in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            processor += _processor(process)
            memory += _memory(process)
    return processor, memory


def _processor_of_ended() -> float:
    """Wait for every orphan that this process has become the parent of; return what all took."""
    with contextlib.suppress(ChildProcessError):  # no child is left
        while True:
            os.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cost(command: Sequence[object], folder: Path, statuses: Sequence[int] = (0,)) -> Cost:
    """Run a command in a folder.

    Raises:
        CalledProcessError: it failed, so that its cost means nothing.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans count, too
    before = _processor_of_ended()
    first_line = 0.0
    peak = 0.0
    sampled = 0.0  # processes that are killed with their container report no times
    started = time.perf_counter()
    words = list(map(str, command))
    with subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        output = b"..."
        while output:
            processor, memory = _now()
            sampled = max(sampled, processor)
            peak = max(peak, memory)
            if select.select([process.stdout], [], [], INTERVAL)[0]:
                output = os.read(process.stdout.fileno(), 1 << 16)
                first_line = first_line or time.perf_counter() - started
    seconds = time.perf_counter() - started
    if process.returncode not in statuses:
        raise subprocess.CalledProcessError(process.returncode, words)
    return Cost(first_line, seconds, max(sampled, _processor_of_ended() - before), peak)
