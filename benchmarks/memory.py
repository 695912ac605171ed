"""What a whole grading takes of memory: `python -m benchmarks.memory [--every 0.1]` (`make bench`).

Grades the solution's bert.py, fine-tune included, in each tier, and adds up the memory of all its
processes, again and again: pages that several share count once (their proportional set size, PSS).
A tier that this machine lacks is left out. For Linux only; needs the right to read other users'
processes for `locked` and `contained`, if they are started by root.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.processes import TENSORMARK
from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.sandbox.interface import TIERS
from tensormark.settings import Settings
from tensormark.strictest import fault_of

PROC = Path("/proc")


def tree(root: int) -> set[int]:
    """Return a process and all that are below it."""
    parents: dict[int, int] = {}
    for path in PROC.glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(path.parent.name)] = int(fields[1])
    found, new = set[int](), {root}
    while new:
        found |= new
        new = {process for process, parent in parents.items() if parent in new} - found
    return found


def memory_of(process: int) -> float:
    """Return the PSS of a process in MB; 0 if it has ended."""
    try:
        rollup = (PROC / str(process) / "smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    rows = (line.split() for line in rollup.splitlines())
    return next((int(row[1]) * 1024 / 1e6 for row in rows if row[0] == "Pss:"), 0.0)


def name_of(process: int) -> str:
    """Return what a process runs, in a word."""
    try:
        command = (PROC / str(process) / "cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return "ended"
    words = [word for word in command.split("\0") if word]
    scripts = [Path(word).name for word in words if word.endswith(".py")]
    return scripts[0] if scripts else Path(words[0]).name if words else "ended"


def samples(command: Sequence[str], every: float) -> Iterator[dict[int, tuple[str, float]]]:
    """Run a command; yield what each process takes, by its id.

    Raises:
        CalledProcessError: it failed, so that its memory means nothing.
    """
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            yield {one: (name_of(one), memory_of(one)) for one in tree(process.pid)}
            time.sleep(every)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)


def peak(command: Sequence[str], every: float) -> list[tuple[str, float]]:
    """Return what the processes take when they take most."""
    most: list[tuple[str, float]] = []
    for found in samples(command, every):
        if sum(size for _, size in found.values()) > sum(size for _, size in most):
            most = sorted(found.values(), key=lambda one: -one[1])
    return most


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="memory", description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=float, default=0.1, help="seconds between two looks")
    parser.add_argument("--submission", default="solution/bert.py", help="what is graded")
    options = parser.parse_args()
    for tier in reversed(TIERS):
        if fault := fault_of(ASSIGNMENT, tier, Settings.of(ROOT)):
            print(f"{tier:10} left out: {fault}")
            continue
        command = [*TENSORMARK, "grade", options.submission, "--tier", tier]
        most = peak(command, options.every)
        parts = ", ".join(f"{name} {size:.0f}" for name, size in most if size >= 1)
        print(f"{tier:10} {sum(size for _, size in most):5.0f} MB: {parts}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
