"""What a student waits for: `python -m benchmarks.startup [--rounds 7]` (`make bench`).

Times, in turns in one run, a bare `import torch`, the check of the five functions and the check
with every extension, each in a fresh process as `make check` starts it. Only the ratios of one run
mean anything: torch has to be imported, and the rest should cost little more.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.processes import TENSORMARK
from instructor import ROOT

TORCH = [sys.executable, "-c", "import torch"]
GRADER = [*TENSORMARK, "check"]
COMMANDS = {
    "import torch": TORCH,
    "five functions": [*GRADER, "solution/bert.py"],
    "with extensions": [*GRADER, "solution"],
}


class Seconds(NamedTuple):
    """How long a command took: to its first line, and in all."""

    first_line: float
    total: float


def seconds(command: Sequence[str]) -> Seconds:
    """Run a command.

    Raises:
        CalledProcessError: it failed, so that its time means nothing.
    """
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.perf_counter() - started
        process.stdout.read()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Seconds(first, time.perf_counter() - started)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="startup", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7, help="runs of each command")
    rounds = parser.parse_args().rounds
    taken: dict[str, list[Seconds]] = {name: [] for name in COMMANDS}
    for number in range(rounds + 1):
        for name, command in COMMANDS.items():
            found = seconds(command)
            if number:  # the first round warms the disk's cache
                taken[name].append(found)
        print(f"round {number} of {rounds}", file=sys.stderr, flush=True)
    print("                   first line      total   to import torch")
    for name, all_found in taken.items():
        pairs = zip(all_found, taken["import torch"], strict=True)
        ratio = statistics.median(mine.total / bare.total for mine, bare in pairs)
        first = statistics.median(one.first_line for one in all_found)
        total = statistics.median(one.total for one in all_found)
        print(f"{name:17} {first:10.2f} s {total:8.2f} s {ratio:15.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
