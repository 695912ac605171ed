"""What a fine-tune costs: `python -m benchmarks.fine_tune [--rounds 5]` (`make bench`).

Measures, in turns in one run, the processor time of a bare `import torch` and of
`python classifier.py`, from the start of the process to the written predictions. Only the ratio
means anything.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from instructor import ROOT

TORCH = ("-c", "import torch")


def processor_seconds(arguments: Sequence[str], folder: Path) -> float:
    """Run Python in a folder, and return the processor time that it took.

    Raises:
        CalledProcessError: it failed, so that its time means nothing.
    """
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(arguments))
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="fine_tune", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="runs of each (default: %(default)s)")
    rounds = parser.parse_args().rounds
    taken: dict[str, list[float]] = {"import torch": [], "classifier.py": []}
    with tempfile.TemporaryDirectory() as folder:
        data = ROOT / "data"
        ours = ["classifier.py", "--threads", "1", "--device", "cpu", "--predictions", folder]
        ours += ["--train", str(data / "train.txt"), "--dev", str(data / "dev.txt")]
        for number in range(rounds + 1):
            for name, command in zip(taken, (TORCH, ours), strict=True):
                seconds = processor_seconds(command, ROOT / "solution")
                if number:  # the first round warms the disk's cache
                    taken[name].append(seconds)
    for name, found in taken.items():
        print(f"{name:14} {statistics.median(found):6.2f} s of processor time")
    ratio = statistics.median(ours / torch for torch, ours in zip(*taken.values(), strict=True))
    print(f"classifier.py takes {ratio:.2f} times as long as import torch")
    return 0


if __name__ == "__main__":
    sys.exit(main())
