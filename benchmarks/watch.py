"""How long a save takes to its verdict: `python -m benchmarks.watch [--saves 20]` (`make bench`).

Runs `tensormark watch` on a copy of the solution, and in turns saves the file and times a
bare `import torch`, in one run. A save counts from before the file is written until the last
verdict of the five functions is printed. Only the ratios of one run mean anything. Every other save
has a mistake: the functions after it are then called a second time, with stand-ins.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.processes import TENSORMARK
from benchmarks.startup import TORCH, seconds
from instructor import ROOT

LAST = "encode"  # of the five functions
WAITING = "waiting for a change"
RIGHT, WRONG = "return ln_layer(", "return 1.01 * ln_layer("


@contextmanager
def watching(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Watch a file; end with the block."""
    command = [*TENSORMARK, "watch", str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def read_until(process: subprocess.Popen[str], word: str) -> None:
    """Read up to a line with a word.

    Raises:
        RuntimeError: there is none.
    """
    assert process.stdout is not None
    for line in process.stdout:
        if word in line:
            return
    raise RuntimeError(f"it has ended, with status {process.wait()}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="watch", description=__doc__.split("\n")[0])
    parser.add_argument("--saves", type=int, default=20, help="in a row")
    saves = parser.parse_args().saves
    text = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    taken: list[float] = []
    bare: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bert.py"
        path.write_text(text, encoding="utf-8")
        with watching(path) as process:
            read_until(process, WAITING)
            for number in range(saves):
                saved = text.replace(RIGHT, WRONG) if number % 2 else text
                started = time.perf_counter()
                path.write_text(f"{saved}# save {number}\n", encoding="utf-8")
                read_until(process, f" {LAST} ")
                taken.append(time.perf_counter() - started)
                read_until(process, WAITING)
                bare.append(seconds(TORCH).total)
    print(f"{saves} saves in a row; import torch: median {statistics.median(bare):.2f} s")
    print("                   save to verdict    to import torch")
    for name, first in (("right", 0), ("with a mistake", 1)):
        mine = taken[first::2]
        ratios = [one / torch for one, torch in zip(mine, bare[first::2], strict=True)]
        print(f"{name:17} {statistics.median(mine):14.2f} s {statistics.median(ratios):16.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
