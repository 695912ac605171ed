"""Measure everything alternately with its peers, and print one table: `make bench`.

--only watch            only one module's rows
--against ../checkout   compare with another checkout, which has its own .venv
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

from benchmarks import class_of, fine_tune, grading, memory, start, watch
from benchmarks.checkout import Checkouts, checkouts
from benchmarks.measure import Row, progress

BENCHMARKS: dict[str, Callable[[Checkouts], Iterator[Row]]] = {
    "start": start.rows,
    "watch": watch.rows,
    "grading": grading.rows,
    "memory": memory.rows,
    "fine_tune": fine_tune.rows,
    "class": class_of.rows,
}
TABLE_ROW = "{:<38} {:>10} {:>10} {:<15} {:>6}  {}"


def machine() -> str:
    """Describe this machine in one line."""
    cpu_info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    models = [
        line.partition(": ")[2] for line in cpu_info.splitlines() if line.startswith("model name")
    ]
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    details = f"{cores} cores (load {load:.1f} at the start), torch {version('torch')}"
    model = models[0] if models else platform.machine()
    return f"{model}, {details}, Python {sys.version.split()[0]}"


def amount(value: float, unit: str) -> str:
    """Format a number to three significant digits, with its unit."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}"


def print_rows(name: str, measured_checkouts: Checkouts) -> bool:
    """Measure a module's rows and print them; return whether all could be measured."""
    try:
        for row in BENCHMARKS[name](measured_checkouts):
            progress("")
            ours, peer = (amount(value, row.line.unit) for value in (row.ours, row.peer))
            cells = row.line.what, ours, peer, row.against, f"{row.ratio:.2f}", row.limit
            print(TABLE_ROW.format(*cells).rstrip(), flush=True)
    except (RuntimeError, subprocess.CalledProcessError) as error:  # such as a missing tier
        print(f"{name} is skipped: {error}", file=sys.stderr)
        return False
    return True


def main() -> int:
    """Measure and print; the exit status is 1 if something could not be measured."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=list(BENCHMARKS), help="only one module's rows")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare with it")
    options = parser.parse_args()
    measured_checkouts = checkouts(options.against)
    header = TABLE_ROW.format("what", "ours", "peer", "", "ratio", "limit")
    print(f"{machine()}\n\n{header}", flush=True)
    all_measured = [
        print_rows(name, measured_checkouts) for name in BENCHMARKS if options.only in (None, name)
    ]
    print("\nOnly the ratios mean anything on another machine; s CPU: seconds of processor time.")
    return 0 if all(all_measured) else 1


if __name__ == "__main__":
    sys.exit(main())
