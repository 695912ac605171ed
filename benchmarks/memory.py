"""Measures how much memory a whole grading, fine-tune included, takes in each tier.

If root runs `locked`, this needs permission to read other users' processes.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.checkout import Checkout, Checkouts
from benchmarks.measure import Line, Peer, Row, compare, peak_memory, progress
from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.sandbox.interface import TIERS
from tensormark.settings import Settings
from tensormark.strictest import fault_of

IMPORT_AND_SLEEP = "import torch, time; time.sleep(0.5)"  # long enough to be sampled


def torch_memory() -> Sequence[float]:
    """Return the MB of a process that has imported torch."""
    return [peak_memory([sys.executable, "-c", IMPORT_AND_SLEEP], Path.cwd())]


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure each tier that this machine has."""
    for tier in TIERS:
        if fault := fault_of(ASSIGNMENT, tier, Settings.of(ROOT)):
            progress("")
            print(f"memory in {tier} is skipped: {fault}", file=sys.stderr)
            continue

        def grade_in_tier(checkout: Checkout, tier: str = tier) -> Sequence[float]:
            command = checkout.command("grade", "solution/bert.py", "--tier", tier)
            return [peak_memory(command, checkout.root)]

        peer = Peer("import torch", torch_memory)
        line = Line(f"memory of make grade, {tier}", "MB")
        yield from compare([line], grade_in_tier, checkouts, peer, rounds=1, warm=False)
