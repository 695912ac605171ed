"""What isolation costs: `python -m benchmarks.isolation [--rounds 3]` (`make bench`).

Grades the solution's bert.py, fine-tune included, in turn without isolation (a zygote's child that
nothing locks down), in `contained` and in `locked`, in one run on one machine; and then, without
training, one submission after another. Only the ratios of one run mean anything.
"""

import argparse
import functools
import statistics
import sys
import time
from collections.abc import Iterable, Iterator

from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.grading import Grading
from tensormark.sandbox.interface import CONTAINED, LOCKED, Program, Sandbox, WorkerStartError
from tensormark.sandbox.isolated import IsolatedSandbox
from tensormark.sandbox.tiers import open_sandbox
from tensormark.settings import Settings

WITHOUT = "no isolation"
SUBMISSIONS = 20  # graded one after another, without training


def open_tier(tier: str, program: Program) -> Sandbox:
    """Open a sandbox of a tier, or the same without isolation."""
    if tier == WITHOUT:
        return IsolatedSandbox(program, contained=False, lock=False)
    return open_sandbox(tier, program)


@functools.cache
def grading(tier: str) -> Grading:
    """Return a function that grades in a tier, one submission after another."""
    return Grading(Settings.of(ROOT, tier=tier), ASSIGNMENT, opener=open_tier)


def seconds(tier: str, check: bool) -> float:
    """Grade the solution; return how long it took.

    Raises:
        WorkerStartError: the machine cannot give that tier.
    """
    started = time.perf_counter()
    made = grading(tier).grade(str(ROOT / "solution" / "bert.py"), check)
    taken = time.perf_counter() - started
    for result in made.results:
        if result.score is None:
            raise WorkerStartError(result.note)
    if made.score != made.max_score:
        raise RuntimeError(f"{tier}: the solution scores {made.score:g} of {made.max_score:g}")
    return taken


def warm(tiers: Iterable[str]) -> Iterator[str]:
    """Start what each tier needs; leave out unavailable tiers."""
    for tier in tiers:
        try:
            first = seconds(tier, check=True)
        except WorkerStartError as error:
            print(f"{tier:14} left out: {error}", file=sys.stderr, flush=True)
            continue
        print(f"{tier:14} first submission, without training: {first:6.2f} s", flush=True)
        yield tier


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="isolation", description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="full gradings in each tier")
    rounds = parser.parse_args().rounds
    tiers = list(warm([WITHOUT, CONTAINED, LOCKED]))
    if WITHOUT not in tiers:
        print("isolation: there is nothing to compare with", file=sys.stderr)
        return 2
    full: dict[str, list[float]] = {tier: [] for tier in tiers}
    short: dict[str, list[float]] = {tier: [] for tier in tiers}
    for number in range(rounds):
        for tier in tiers:
            full[tier].append(seconds(tier, check=False))
            print(f"round {number + 1} of {rounds}: {tier:14} {full[tier][-1]:6.2f} s", flush=True)
    for _ in range(SUBMISSIONS):
        for tier in tiers:
            short[tier].append(seconds(tier, check=True))
    print("\n                     with training    ratio   without training    ratio")
    for tier in tiers:
        cells = []
        for taken in (full, short):
            middle = statistics.median(taken[tier])
            ratio = statistics.median(
                mine / none for mine, none in zip(taken[tier], taken[WITHOUT], strict=True)
            )
            cells.append(f"{middle:14.2f} s {ratio:8.3f}")
        print(f"{tier:14} {cells[0]}   {cells[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
