"""What isolation costs: `python -m benchmarks.isolation [--rounds 3]` (`make bench`).

Grades the solution's bert.py, fine-tune included, in turn without isolation (a zygote's child that
nothing locks down), in `contained` and in `locked`, in one run on one machine; and then, without
training, one submission after another. Only the ratios of one run mean anything.
"""

import argparse
import contextlib
import io
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from unittest import mock

from grader import grade as grading
from grader.contained import IsolatedSandbox
from grader.handed_in import ROOT
from grader.knobs import Setup
from grader.sandbox import CONTAINED, LOCKED, Limits, Sandbox, WorkerStartError, open_sandbox

WITHOUT = "no isolation"
SUBMISSIONS = 20  # graded one after another, without training


def open_without(
    tier: str,
    sources: Mapping[str, str],
    imports: Iterable[str],
    checkpoint: Path,
    threads: int = 1,
    limits: Limits | None = None,
) -> Sandbox:
    """Open a sandbox that isolates nothing and is otherwise the same."""
    return IsolatedSandbox(
        sources, imports, checkpoint, threads, contained=False, lock=False, limits=limits
    )


def seconds(tier: str, check: bool) -> float:
    """Grade the solution; return how long it took.

    Raises:
        WorkerStartError: the machine cannot give that tier.
    """
    opens: Callable[..., Sandbox] = open_without if tier == WITHOUT else open_sandbox
    setup = Setup(tier=CONTAINED if tier == WITHOUT else tier)
    nowhere = io.StringIO()
    quiet, still = contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere)
    started = time.perf_counter()
    with quiet, still, mock.patch.object(grading, "open_sandbox", opens):
        made = grading.grade(str(ROOT / "solution" / "bert.py"), check, None, setup)
    taken = time.perf_counter() - started
    for result in made.results:
        if result.score is None:
            raise WorkerStartError(result.note)
    if made.score != made.max_score:
        raise RuntimeError(f"{tier}: the solution scores {made.score:g} of {made.max_score:g}")
    return taken


def warm(tiers: Iterable[str]) -> Iterator[str]:
    """Start what each tier needs; leave out those that cannot be had here."""
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
