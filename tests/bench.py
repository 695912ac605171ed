"""Time this project's commands, each alternating with a peer, and print a table: `make bench`."""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.authoring.course import open_course
from tensormark.sandbox.tiers import CONTAINED

ROUNDS = 3
EACH = 6  # correct submissions in the class, and as many wrong ones
TABLE_ROW = "{:<40} {:>10} {:>10}  {:<16} {:>5}"
NAMES = ("start", "check", "grade", "class")
ACCEPTED = (0, 3)  # exit statuses; 3: the machine cannot grade everything
Commands = Sequence[Sequence[object]]  # the arguments of Python; {out} is a new folder


def seconds(checkout: Path, commands: Commands) -> float:
    """Run commands in a checkout; return how long they take."""
    python = str(checkout / ".venv/bin/python")
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        for words in commands:
            line = [python, *(str(word).format(out=out) for word in words)]
            done = subprocess.run(line, cwd=checkout, capture_output=True, text=True, check=False)
            if done.returncode not in ACCEPTED:
                sys.exit(f"{line}: {done.stderr}")
        return time.perf_counter() - start


def write_class(folder: Path) -> Sequence[Path]:
    """Write a class of different submissions; return their paths."""
    solution = (ROOT / "solution" / "bert.py").read_text("utf-8")
    course = open_course(ASSIGNMENT)
    folder.mkdir()
    paths = []
    for known in (course.honest, course.variants):
        for one in [one for one in known if one.module == "bert"][:EACH]:
            paths.append(folder / f"{one.id}.py")
            paths[-1].write_text(one.apply(solution), "utf-8")
    return paths


def comparisons(folder: Path) -> dict[str, tuple[str, Commands, str, Commands]]:
    """Return what to time and its peer, each with its commands; write submissions to the folder."""
    tensormark = ("-P", "-m", "tensormark")
    paths = write_class(folder / "class")
    whole_class = (*tensormark, "class", "--check", "--out", "{out}", paths[0].parent)
    one_by_one = [(*tensormark, "check", path, "--tier", CONTAINED) for path in paths]
    grade = (*tensormark, "grade", "solution/bert.py")
    contained = (*grade, "--tier", CONTAINED)
    starter, solution = ((*tensormark, "check", name) for name in ("starter", "solution"))
    torch = [("-c", "import torch")]  # the least that a program with torch takes
    return {
        "start": ("make check of an untouched starter", [starter], "import torch", torch),
        "check": ("make check, with every extension", [solution], "import torch", torch),
        "grade": ("make grade, contained", [contained], "no isolation", [grade]),
        "class": (f"make class of {len(paths)}", [whole_class], "one by one", one_by_one),
    }


def main() -> None:
    """Measure and print medians; the ratio is the median of the ratios in each round."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--only", choices=NAMES, help="only one comparison")
    text = "compare with this checkout, which has its own .venv, instead of the peers"
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help=text)
    options = parser.parse_args()
    if options.before and not (options.before / ".venv").is_dir():
        parser.error(f"{options.before} is not a checkout with its own .venv")
    cores = len(os.sched_getaffinity(0))
    versions = f"torch {version('torch')}, Python {platform.python_version()}"
    print(f"{platform.machine()}, {cores} cores (load {os.getloadavg()[0]:.1f}), {versions}\n")
    print(TABLE_ROW.format("what", "ours", "peer", "", "ratio"), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, (what, ours, peer_name, peer) in comparisons(Path(folder)).items():
            where = ROOT
            if options.before:
                where = options.before.resolve()
                peer_name, peer = where.name, ours
            if options.only in (None, name):
                turns = [(seconds(ROOT, ours), seconds(where, peer)) for _ in range(ROUNDS)]
                medians = [f"{statistics.median(side):.3g} s" for side in zip(*turns, strict=True)]
                ratio = statistics.median(first / second for first, second in turns)
                print(TABLE_ROW.format(what, *medians, peer_name, f"{ratio:.2f}"), flush=True)
    print("\nOnly the ratios mean anything on another machine.")


if __name__ == "__main__":
    main()
