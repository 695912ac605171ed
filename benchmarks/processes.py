"""The command tensormark; what processes use, and what they have started, as Linux tells it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

TENSORMARK = [sys.executable, "-P", "-m", "tensormark"]
CLOCK = os.sysconf("SC_CLK_TCK")


def descendants(process: int) -> Iterator[int]:
    """Yield a process and all that it has started."""
    yield process
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        for child in path.read_text(encoding="ascii").split():
            yield from descendants(int(child))


def megabytes(process: int) -> float:
    """Return the memory of a process and all that it has started, shared pages once."""
    total = 0
    for one in descendants(process):
        lines = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii").splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def processor(process: int) -> float:
    """Return the processor time of a process alone."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK
