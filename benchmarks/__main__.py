"""Measure everything in turns with its peers, and print one table: `make bench`.

--only watch            one module's rows
--against ../checkout   in turns with another checkout, which has a .venv of its own
"""

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

from benchmarks import class_of, fine_tune, grading, memory, start, watch
from benchmarks.checkout import Checkouts, checkouts
from benchmarks.measure import Row, progress

IDEAS: dict[str, Callable[[Checkouts], Iterator[Row]]] = {
    "start": start.rows,
    "watch": watch.rows,
    "grading": grading.rows,
    "memory": memory.rows,
    "fine_tune": fine_tune.rows,
    "class": class_of.rows,
}
LINE = "{:<36} {:>13} {:>13}  {:>6}  {:<20} {}"


def machine() -> str:
    """Describe this machine in a line."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    names = [line.partition(": ")[2] for line in info.splitlines() if line.startswith("model name")]
    cores = len(os.sched_getaffinity(0))
    busy = f"load {os.getloadavg()[0]:.1f} before it began"
    return ", ".join(
        [
            names[0] if names else platform.machine(),
            f"{cores} cores ({busy})",
            f"torch {version('torch')}",
            f"Python {platform.python_version()}",
        ]
    )


def amount(value: float, unit: str) -> str:
    """Write a number with its unit, with three digits that count."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}"


def main() -> int:
    """Measure and print."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=list(IDEAS), help="one module's rows")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="in turns with it")
    options = parser.parse_args()
    found = checkouts(options.against)
    print(f"{machine()}\n\n{LINE.format('what', 'ours', 'peer', 'ratio', 'wanted', 'the peer')}")
    for name, rows in IDEAS.items():
        for one in rows(found) if options.only in (None, name) else ():
            progress("")
            ours, peer = (amount(value, one.line.unit) for value in (one.ours, one.peer))
            cells = one.line.what, ours, peer, f"{one.ratio:.2f}", one.wanted, one.against
            print(LINE.format(*cells).rstrip(), flush=True)
    print("\nOnly the ratios mean something on another machine; s CPU: seconds of processor time.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
