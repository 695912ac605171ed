"""What the fine-tune costs, against the shortest loop around torch's own encoder; see train.py."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.checkout import Checkout, Checkouts
from benchmarks.measure import Line, Peer, Row, compare
from instructor import ROOT

TRAIN = Path(__file__).with_name("train.py")


def trained(python: str, root: Path, which: str) -> Sequence[float]:
    """Fine-tune in a fresh process; return the processor seconds of the training alone."""
    command = [python, "-P", str(TRAIN), which]
    env = os.environ | {"PYTHONPATH": str(root / "solution")}
    return [float(subprocess.check_output(command, cwd=root, env=env))]


def ours(checkout: Checkout) -> Sequence[float]:
    """Fine-tune as classifier.py does."""
    return trained(checkout.python, checkout.root, "ours")


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure the fine-tune."""
    bare = Peer("bare torch", lambda: trained(sys.executable, ROOT, "bare"))
    line = Line("the fine-tune, one thread", "s CPU")
    yield from compare([line], ours, checkouts, bare, rounds=2, warm=False)
