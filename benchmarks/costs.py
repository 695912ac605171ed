"""What the worst submissions cost the grader itself: `python -m benchmarks.costs` (`make soak`).

    --random 100   further attacks that are drawn; --seed 1 repeats them
    --part 3       every third of the known attacks only

Each attack of attacks.py is graded in a tier that isolates, as `make check` does it, by this
process, whose processor time and memory are measured for each: without those of the processes that
it starts, which have limits of their own. It fails if one takes more than 5 seconds or 500 MB.
"""

import argparse
import itertools
import random
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.attacks import Attack, drawn, known, write
from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.grading import Grading
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import CONTAINED, Limits
from tensormark.settings import Settings

SECONDS, MEGABYTES = 5.0, 500.0
LIMITS = Limits(load_seconds=20.0, call_seconds=10.0)


class Cost(NamedTuple):
    """What one submission has cost this process."""

    seconds: float
    megabytes: float
    name: str
    outcome: str


def peak() -> float:
    """Return the most memory that this process has had since `forget_peak`, in MB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise OSError("this kernel does not tell how much memory a process has had")


def forget_peak() -> None:
    """Start to measure anew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def seconds() -> float:
    """Return the processor time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def cost(grading: Grading, attack: Attack) -> Cost:
    """Grade an attack."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(attack, Path(folder))
        forget_peak()
        before = seconds()
        try:
            made = grading.grade(str(path), check=True)
            outcome = f"{made.score:g} of {made.max_score:g}"
            if any(result.score is None for result in made.results):
                outcome = "could not grade"
        except SubmissionError as error:
            outcome = str(error).removeprefix(f"{path}: ")[:60]
        return Cost(seconds() - before, peak(), attack.name, outcome)


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade all of them, and print the most expensive ones."""
    parser = argparse.ArgumentParser(prog="costs", description=__doc__.split("\n")[0])
    parser.add_argument("--random", type=int, default=0, help="further attacks that are drawn")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--part", type=int, default=1, help="grade every so many of the known ones")
    parser.add_argument("--tier", default=CONTAINED)
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    start = rng.randrange(options.part)
    chosen = itertools.islice(known(), start, None, options.part)
    attacks = itertools.chain(chosen, (drawn(rng) for _ in range(options.random)))
    grading = Grading(Settings.of(ROOT, tier=options.tier, limits=LIMITS), ASSIGNMENT)
    found = []
    for attack in attacks:
        found.append(cost(grading, attack))
        print("{:6.2f} s {:5.0f} MB  {}: {}".format(*found[-1]), file=sys.stderr, flush=True)
    worst = max(one.seconds for one in found), max(one.megabytes for one in found)
    print(f"{len(found)} attacks, seed {options.seed}: at most {worst[0]:.2f} s, {worst[1]:.0f} MB")
    ungraded = [one.name for one in found if one.outcome == "could not grade"]
    print("".join(f"could not grade: {name}\n" for name in ungraded), end="")
    return int(worst[0] > SECONDS or worst[1] > MEGABYTES or bool(ungraded))


if __name__ == "__main__":
    sys.exit(main())
