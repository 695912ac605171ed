"""How everything here is measured: in turns, in processor time, and with shared memory once."""

import contextlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from benchmarks.checkout import Checkout, Checkouts

T = TypeVar("T")
USED = Path(__file__).with_name("used.py")
CLOCK = os.sysconf("SC_CLK_TCK")
LOOK_EVERY = 0.1  # seconds between two looks at a process


class Line(NamedTuple):
    """What a line of the table says.

    Attributes:
        most: a bar for what we take; most_ratio: a bar for the ratio.
    """

    what: str
    unit: str
    most: float | None = None
    most_ratio: float | None = None


class Row(NamedTuple):
    """A line of the table, with what was found.

    Attributes:
        against: what the peer is.
    """

    line: Line
    ours: float
    peer: float
    ratio: float
    against: str

    @property
    def wanted(self) -> str:
        """The bar, and whether it is missed."""
        if self.line.most is not None:
            bar, missed = f"ours ≤ {self.line.most:g}", self.ours > self.line.most
        elif self.line.most_ratio is not None:
            bar, missed = f"ratio ≤ {self.line.most_ratio:g}", self.ratio > self.line.most_ratio
        else:
            return ""
        return bar + ", missed" * missed


class Peer(NamedTuple):
    """What ours is compared with: a measurement for each line."""

    name: str
    measure: Callable[[], Iterable[float]]


class Used(NamedTuple):
    """What a command took: to its first line, in all, and of the processors."""

    first_line: float
    seconds: float
    processor: float


def progress(text: str) -> None:
    """Show on a terminal what is being measured, below the table."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:79]}", end="", file=sys.stderr, flush=True)


def run(command: Sequence[str], cwd: Path, statuses: Sequence[int] = (0,)) -> Used:
    """Run a command; its processor time includes that of all processes that it has started.

    Raises:
        CalledProcessError: it failed, so that its time means nothing.
    """
    seen = 0.0  # what is killed with its container leaves no account of itself
    line = [sys.executable, "-I", str(USED), *command]
    with subprocess.Popen(line, cwd=cwd, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while process.poll() is None:
            seen = max(seen, sum(processors_of(process.pid).values()))
            time.sleep(LOOK_EVERY)
        if process.returncode not in statuses:
            raise subprocess.CalledProcessError(process.returncode, command)
        first, seconds, processor = json.loads(process.stdout.read())
    return Used(first, seconds, max(seen, processor))


def import_torch() -> Used:
    """Import torch in a fresh process: less no program that needs it can take."""
    return run([sys.executable, "-c", "import torch"], Path.cwd())


TORCH = Peer("import torch", lambda: itertools.repeat(import_torch().seconds))


def descendants(process: int) -> Iterator[int]:
    """Yield a process and all below it."""
    yield process
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it has just ended
            for child in path.read_text(encoding="ascii").split():
                yield from descendants(int(child))


def processors_of(process: int) -> dict[int, float]:
    """Return the processor seconds of a process and of each below it, with those it waited for."""
    found = {}
    for one in descendants(process):
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{one}/stat").read_text(encoding="utf-8", errors="replace")
            ticks = sum(map(int, text.rpartition(")")[2].split()[11:15]))
            found[one] = ticks / CLOCK
    return found


def memory_of(process: int) -> float:
    """Return the MB of a process and all below it; pages that several share count once (PSS)."""
    total = 0
    for one in descendants(process):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii").splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024 / 1e6


def peak_memory(command: Sequence[str], cwd: Path) -> float:
    """Run a command, and return the most memory that it has had, in MB.

    Raises:
        CalledProcessError: it failed, so that its memory means nothing.
    """
    most = 0.0
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=cwd, stdout=quiet, stderr=quiet) as process:
        while process.poll() is None:
            most = max(most, memory_of(process.pid))
            time.sleep(LOOK_EVERY)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return most


def in_turns(rounds: int, *measures: Callable[[], T], warm: bool = True) -> list[list[T]]:
    """Take so many measurements of each, in turns; before them, perhaps one to warm up."""
    found: list[list[T]] = [[] for _ in measures]
    for number in range(-warm, rounds):
        for measure, taken in zip(measures, found, strict=True):
            value = measure()
            if number >= 0:
                taken.append(value)
    return found


def row(line: Line, turns: Sequence[tuple[float, float]], against: str) -> Row:
    """Return a row of the table: medians of ours, of the peer's, and of the ratio in each turn."""
    ours, peer = (statistics.median(values) for values in zip(*turns, strict=True))
    return Row(line, ours, peer, statistics.median(one / other for one, other in turns), against)


def compare(
    lines: Sequence[Line],
    measure: Callable[[Checkout], Sequence[float]],
    checkouts: Checkouts,
    peer: Peer,
    rounds: int = 3,
    warm: bool = True,
) -> Iterator[Row]:
    """Measure this checkout in turns with its peer, or with the other checkout if there is one.

    Args:
        measure: returns a number for each line.
    """
    other = checkouts.other
    if other is not None:
        peer = Peer(other.name, lambda: measure(other))
    progress(f"{', '.join(line.what for line in lines)}; {peer.name} ...")
    both = in_turns(
        rounds, lambda: measure(checkouts.ours), lambda: iter(peer.measure()), warm=warm
    )
    turns = [zip(mine, theirs, strict=False) for mine, theirs in zip(*both, strict=True)]
    for line, *pairs in zip(lines, *turns, strict=True):
        yield row(line, pairs, peer.name)
