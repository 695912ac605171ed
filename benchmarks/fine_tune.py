"""Compares the fine-tune with the shortest loop around torch's own encoder; see train.py."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.checkout import Checkout, Checkouts
from benchmarks.measure import Line, Peer, Row, compare
from instructor import ROOT

TRAIN_SCRIPT = Path(__file__).with_name("train.py")


def training_seconds(python: str, root: Path, loop: str) -> Sequence[float]:
    """Fine-tune in a fresh process; return the processor seconds of the training alone."""
    command = [python, "-P", str(TRAIN_SCRIPT), loop]
    env = os.environ | {"PYTHONPATH": str(root / "solution")}
    return [float(subprocess.check_output(command, cwd=root, env=env))]


def own_seconds(checkout: Checkout) -> Sequence[float]:
    """Fine-tune as classifier.py does."""
    return training_seconds(checkout.python, checkout.root, "ours")


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure the fine-tune."""
    bare = Peer("bare torch", lambda: training_seconds(sys.executable, ROOT, "bare"))
    line = Line("the fine-tune, one thread", "s CPU")
    yield from compare([line], own_seconds, checkouts, bare, rounds=2, warm=False)
