"""Time this project's commands, each in turns with a peer, and print one table: `make bench`."""

import argparse
import functools
import itertools
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.authoring.course import open_course
from tensormark.sandbox.interface import CONTAINED

ROUNDS = 3
EACH = 6  # right ones in the class, and as many wrong ones
NAMES = ("start", "check", "grade", "class")
TABLE_ROW = "{:<40} {:>10} {:>10}  {:<16} {:>5}"
FINE = (0, 3)  # exit statuses; 3: the machine cannot grade everything
Comparison = tuple[str, Callable[[], object], str, Callable[[], object]]  # ours and its peer


def run(checkout: Path, *words: object) -> None:
    line = [str(checkout / ".venv/bin/python"), *map(str, words)]
    done = subprocess.run(line, cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode not in FINE:
        sys.exit(f"{' '.join(line)}: {done.stderr}")


def import_torch() -> None:
    """Do the least that a program which needs torch does."""
    run(ROOT, "-c", "import torch")


def write_class(folder: Path) -> Sequence[Path]:
    """Write submissions, each a different file."""
    solution = (ROOT / "solution" / "bert.py").read_text("utf-8")
    course = open_course(ASSIGNMENT)
    folder.mkdir()
    paths = []
    for known in (course.honest, course.variants):
        for one in itertools.islice((one for one in known if one.module == "bert"), EACH):
            paths.append(folder / f"{one.id}.py")
            paths[-1].write_text(one.apply(solution), "utf-8")
    return paths


def comparisons(folder: Path, checkout: Path) -> dict[str, Comparison]:
    """Return what is compared of a checkout; submissions are written to the folder."""
    folder.mkdir()
    tensormark = functools.partial(run, checkout, "-P", "-m", "tensormark")
    paths = write_class(folder / "class")
    outs = (folder / f"out{number}" for number in itertools.count())

    def whole_class() -> None:
        tensormark("class", "--check", "--out", next(outs), paths[0].parent)

    def one_by_one() -> None:
        for path in paths:
            tensormark("check", path, "--tier", CONTAINED)

    grade = functools.partial(tensormark, "grade", "solution/bert.py")
    contained = functools.partial(grade, "--tier", CONTAINED)

    starter = functools.partial(tensormark, "check", "starter")
    solution = functools.partial(tensormark, "check", "solution")
    return {
        "start": ("make check of an untouched starter", starter, "import torch", import_torch),
        "check": ("make check, with every extension", solution, "import torch", import_torch),
        "grade": ("make grade, contained", contained, "no isolation", grade),
        "class": (f"make class of {len(paths)}", whole_class, "one by one", one_by_one),
    }


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    """Measure and print medians; the ratio is the median of each turn's."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--only", choices=NAMES, help="only one comparison")
    text = "compare with this checkout, which has its own .venv, not with alternatives"
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help=text)
    options = parser.parse_args()
    if options.before and not (options.before / ".venv").is_dir():
        parser.error(f"{options.before} is not a checkout with its own .venv")
    cores = len(os.sched_getaffinity(0))
    versions = f"torch {version('torch')}, Python {platform.python_version()}"
    print(f"{platform.machine()}, {cores} cores (load {os.getloadavg()[0]:.1f}), {versions}\n")
    print(TABLE_ROW.format("what", "ours", "peer", "", "ratio"), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        before = options.before and comparisons(Path(folder, "before"), options.before.resolve())
        measured = comparisons(Path(folder, "now"), ROOT)
        for name, (what, ours, peer_name, peer) in measured.items():
            if before:
                peer_name, peer = options.before.name, before[name][1]
            if options.only in (None, name):
                turns = [(seconds(ours), seconds(peer)) for _ in range(ROUNDS)]
                medians = [f"{statistics.median(side):.3g} s" for side in zip(*turns, strict=True)]
                ratio = statistics.median(first / second for first, second in turns)
                print(TABLE_ROW.format(what, *medians, peer_name, f"{ratio:.2f}"), flush=True)
    print("\nOnly the ratios mean anything on another machine.")


if __name__ == "__main__":
    main()
