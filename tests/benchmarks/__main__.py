"""Measure this project's commands alternately with their peers, and print one table: `make bench`.

--only class            only one comparison
--against ../checkout   compare with another checkout, which has its own .venv
"""

import argparse
import itertools
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.authoring.course import open_course
from tensormark.sandbox.interface import CONTAINED
from tests.benchmarks.cost import Cost, cost
from tests.hostile.shared import completed

ROUNDS = 3
NAMES = ("start", "check", "grade", "class", "memory")
HOSTILE = ROOT / "tests" / "hostile" / "submissions" / "result_forging"
# how many of a class of 12 hand in what
KINDS = {"right": 5, "wrong": 3, "hostile": 2, "untouched": 1, "odd": 1}
TABLE_ROW = "{:<40} {:>10} {:>10}  {:<16} {:>5}"
Measure = Callable[[Path], Cost]  # of a checkout


class Comparison(NamedTuple):
    """Two measurements, and the rows of the table that they fill: texts, fields, units."""

    ours: Measure
    peer_name: str
    peer: Measure
    rows: Sequence[tuple[str, str, str]]


def tensormark(*words: object, statuses: Sequence[int] = (0,)) -> Measure:
    """Return a measurement of one of the grader's commands."""

    def measure(checkout: Path) -> Cost:
        python = checkout.absolute() / ".venv" / "bin" / "python"
        return cost([python, "-P", "-m", "tensormark", *words], checkout, statuses)

    return measure


def import_torch(_: Path, then: str = "") -> Cost:
    """Import torch, the least that a program which needs it does."""
    return cost([sys.executable, "-c", f"import torch; {then}"], ROOT)


def import_torch_and_wait(checkout: Path) -> Cost:
    """Import torch, and wait until memory has been sampled."""
    return import_torch(checkout, "import time; time.sleep(0.5)")


def mixed_class(folder: Path) -> list[Path]:
    """Write submissions of all kinds, each a different file."""
    solution = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    course = open_course(ASSIGNMENT)
    attacks = (path.read_text(encoding="utf-8") for path in sorted(HOSTILE.glob("*.py")))
    sources = {
        "right": (each.apply(solution) for each in course.honest if each.module == "bert"),
        "wrong": (each.apply(solution) for each in course.variants if each.module == "bert"),
        "hostile": (solution + completed(text) for text in attacks if "# file:" not in text),
        "untouched": iter([(ROOT / "starter" / "bert.py").read_text(encoding="utf-8")]),
        "odd": iter(["def attention(:\n"]),
    }
    folder.mkdir()
    paths = []
    for kind, count in KINDS.items():
        for number, source in enumerate(itertools.islice(sources[kind], count)):
            paths.append(folder / f"{kind}{number}.py")
            paths[-1].write_text(source, encoding="utf-8")
    return paths


def whole_class(folder: Path) -> Measure:
    """Return a measurement of `make class`, without training."""

    def measure(checkout: Path) -> Cost:
        with tempfile.TemporaryDirectory() as out:
            options = ("--check", "--out", Path(out, "class"), folder)
            return tensormark("class", *options, statuses=(0, 3))(checkout)

    return measure


def one_by_one(paths: Sequence[Path]) -> Measure:
    """Return a measurement of the same checks, each by a command of its own."""

    def measure(checkout: Path) -> Cost:
        options = ("--tier", CONTAINED)
        statuses = (0, 2, 3)  # 2: there is nothing to grade in an odd one
        costs = [tensormark("check", path, *options, statuses=statuses)(checkout) for path in paths]
        return Cost(*map(sum, zip(*costs, strict=True)))

    return measure


def comparisons(folder: Path) -> dict[str, Comparison]:
    """Return all comparisons; submissions are written to the folder."""
    paths = mixed_class(folder / "class")
    contained = tensormark("grade", "solution/bert.py", "--tier", CONTAINED)
    grading = "make grade, contained"
    checking = f"make class of {len(paths)}, no training"
    return {
        "start": Comparison(
            tensormark("check", "starter"),
            "import torch",
            import_torch,
            [("make check of an untouched starter", "seconds", "s")],
        ),
        "check": Comparison(
            tensormark("check", "solution"),
            "import torch",
            import_torch,
            [
                ("make check, to its first line", "first_line", "s"),
                ("make check, with every extension", "seconds", "s"),
            ],
        ),
        "grade": Comparison(
            contained,
            "no isolation",
            tensormark("grade", "solution/bert.py"),
            [(grading, "seconds", "s"), (grading, "processor", "s CPU")],
        ),
        "class": Comparison(
            whole_class(paths[0].parent),
            "one by one",
            one_by_one(paths),
            [(checking, "seconds", "s"), (checking, "processor", "s CPU")],
        ),
        "memory": Comparison(
            contained, "import torch", import_torch_and_wait, [(f"{grading}, peak", "memory", "MB")]
        ),
    }


def machine() -> str:
    """Describe this machine in one line."""
    cores = len(os.sched_getaffinity(0))
    load = f"load {os.getloadavg()[0]:.1f} at the start"
    versions = f"torch {version('torch')}, Python {platform.python_version()}"
    return f"{platform.machine()}, {cores} cores ({load}), {versions}"


def print_rows(comparison: Comparison, other: Path | None) -> None:
    """Measure both sides in turns, and print medians; the ratio is the median of each turn's."""
    turns = []
    for _ in range(ROUNDS):
        ours = comparison.ours(ROOT)
        peer = comparison.ours(other) if other else comparison.peer(ROOT)
        turns.append((ours, peer))
    for what, field, unit in comparison.rows:
        pairs = [(getattr(ours, field), getattr(peer, field)) for ours, peer in turns]
        medians = [f"{statistics.median(side):.3g} {unit}" for side in zip(*pairs, strict=True)]
        ratio = statistics.median(ours / peer for ours, peer in pairs)
        peer_name = other.resolve().name if other else comparison.peer_name
        print(TABLE_ROW.format(what, *medians, peer_name, f"{ratio:.2f}"), flush=True)


def main() -> int:
    """Measure and print; the exit status is 1 if something could not be measured."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=NAMES, help="only one comparison")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare with it")
    options = parser.parse_args()
    print(f"{machine()}\n\n{TABLE_ROW.format('what', 'ours', 'peer', '', 'ratio')}", flush=True)
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, comparison in comparisons(Path(folder)).items():
            if options.only not in (None, name):
                continue
            try:
                print_rows(comparison, options.against)
            except subprocess.CalledProcessError as error:  # such as a missing tier
                print(f"{name} is skipped: {error}", file=sys.stderr)
                status = 1
    print("\nOnly the ratios mean anything on another machine; s CPU: seconds of processor time.")
    return status


if __name__ == "__main__":
    sys.exit(main())
