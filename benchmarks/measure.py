"""Measures two sides alternately: their time, their processor time and their memory."""

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
USED_SCRIPT = Path(__file__).with_name("used.py")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
INTERVAL = 0.1  # seconds between two samples of a process


class Line(NamedTuple):
    """What a line of the table measures.

    Attributes:
        most: the most that ours may be; most_ratio: the most that the ratio may be.
    """

    what: str
    unit: str
    most: float | None = None
    most_ratio: float | None = None


class Row(NamedTuple):
    """A line of the table, with its measurements.

    Attributes:
        against: the name of the peer.
    """

    line: Line
    ours: float
    peer: float
    ratio: float
    against: str

    @property
    def limit(self) -> str:
        """The limit, and whether it is exceeded."""
        if self.line.most is not None:
            limit, exceeded = f"ours ≤ {self.line.most:g}", self.ours > self.line.most
        elif self.line.most_ratio is not None:
            most = self.line.most_ratio
            limit, exceeded = f"ratio ≤ {most:g}", self.ratio > most
        else:
            return ""
        return limit + ", exceeded" * exceeded


class Peer(NamedTuple):
    """What ours is compared with; `measure` returns a number for each line."""

    name: str
    measure: Callable[[], Iterable[float]]


class Used(NamedTuple):
    """The seconds that a command took to its first line, in total, and of processor time."""

    first_line: float
    seconds: float
    processor: float


def progress(text: str) -> None:
    """Show on a terminal what is being measured, below the table."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:79]}", end="", file=sys.stderr, flush=True)


def run(command: Sequence[str], cwd: Path, statuses: Sequence[int] = (0,)) -> Used:
    """Run a command; its processor time includes that of all processes it started.

    Raises:
        CalledProcessError: it failed, so that its time means nothing.
    """
    sampled_seconds = 0.0  # because processes that are killed with their container report no times
    timed_command = [sys.executable, "-I", str(USED_SCRIPT), *command]
    with subprocess.Popen(timed_command, cwd=cwd, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while process.poll() is None:
            sampled_seconds = max(sampled_seconds, sum(processors_of(process.pid).values()))
            time.sleep(INTERVAL)
        if process.returncode not in statuses:
            raise subprocess.CalledProcessError(process.returncode, command)
        first_line, seconds, processor = json.loads(process.stdout.read())
    return Used(first_line, seconds, max(sampled_seconds, processor))


def import_torch() -> Used:
    """Import torch in a fresh process, the least that a program which needs it can take."""
    return run([sys.executable, "-c", "import torch"], Path.cwd())


TORCH = Peer("import torch", lambda: itertools.repeat(import_torch().seconds))


def descendants(process: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield process
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it has just ended
            for child in path.read_text(encoding="ascii").split():
                yield from descendants(int(child))


def processors_of(process: int) -> dict[int, float]:
    """Return the processor seconds of a process and its descendants, ended children included."""
    seconds = {}
    for pid in descendants(process):
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
            ticks = sum(map(int, text.rpartition(")")[2].split()[11:15]))
            seconds[pid] = ticks / TICKS_PER_SECOND
    return seconds


def memory_of(process: int) -> float:
    """Return the MB of a process and its descendants; shared pages count once (PSS)."""
    total = 0
    for pid in descendants(process):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total * 1024 / 1e6


def peak_memory(command: Sequence[str], cwd: Path) -> float:
    """Run a command, and return its peak memory in MB.

    Raises:
        CalledProcessError: it failed, so that its memory means nothing.
    """
    peak = 0.0
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=cwd, stdout=quiet, stderr=quiet) as process:
        while process.poll() is None:
            peak = max(peak, memory_of(process.pid))
            time.sleep(INTERVAL)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return peak


def in_turns(rounds: int, *measures: Callable[[], T], warm: bool = True) -> list[list[T]]:
    """Take `rounds` measurements of each, alternately, after one to warm up if `warm`."""
    results: list[list[T]] = [[] for _ in measures]
    for number in range(-warm, rounds):
        for measure, values in zip(measures, results, strict=True):
            value = measure()
            if number >= 0:
                values.append(value)
    return results


def row(line: Line, turns: Sequence[tuple[float, float]], against: str) -> Row:
    """Return a row of the table: medians of ours, of the peer's, and of the ratio in each turn."""
    ours, peer = (statistics.median(values) for values in zip(*turns, strict=True))
    return Row(
        line,
        ours,
        peer,
        statistics.median(own_value / peer_value for own_value, peer_value in turns),
        against,
    )


def compare(
    lines: Sequence[Line],
    measure: Callable[[Checkout], Sequence[float]],
    checkouts: Checkouts,
    peer: Peer,
    rounds: int = 3,
    warm: bool = True,
) -> Iterator[Row]:
    """Measure this checkout alternately with its peer, or with the other checkout if given.

    Args:
        measure: returns a number for each line.
    """
    other = checkouts.other
    if other is not None:
        peer = Peer(other.name, lambda: measure(other))
        lines = [line._replace(most_ratio=None) for line in lines]  # these are for the usual peer
    progress(f"{', '.join(line.what for line in lines)}; {peer.name} ...")
    measurements = in_turns(
        rounds, lambda: measure(checkouts.ours), lambda: iter(peer.measure()), warm=warm
    )
    turns = [
        zip(own_values, peer_values, strict=False)
        for own_values, peer_values in zip(*measurements, strict=True)
    ]
    for line, *pairs in zip(lines, *turns, strict=True):
        yield row(line, pairs, peer.name)
