"""What gradings after the first cost in one process, and what isolation adds to them.

Processor seconds, of the student's code as well: the training is left out but for the last row.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.checkout import Checkouts, Grader, grader
from benchmarks.measure import Line, Peer, Row, compare, import_torch, processors_of
from benchmarks.submissions import write_class
from instructor import ROOT
from tensormark.sandbox.interface import CONTAINED

MIX = 25
AT_ONCE = 4  # a clock tick is a hundredth of a second
SOLUTION = ROOT / "solution" / "bert.py"
RIGHT = Line("another right one, contained", "s CPU", most=0.22)
MIXED = Line("one of a class's mix, contained", "s CPU", most=0.35)
TRAINED = Line("a right one with its training", "s")


def processor_each(grader: Grader, paths: Sequence[Path]) -> Sequence[float]:
    """Grade submissions; return the processor seconds for each."""
    seen = processors_of(grader.process.pid)
    before = sum(seen.values())
    for path in paths:
        grader.grade(path)
        seen |= processors_of(grader.process.pid)  # a hostile one may have ended a container
    return [(sum(seen.values()) - before) / len(paths)]


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure gradings in `contained`, beside the same checks in one process without isolation."""
    with ExitStack() as stack:
        graders = {
            one: stack.enter_context(grader(one, CONTAINED)) for one in checkouts if one is not None
        }
        kept = stack.enter_context(grader(checkouts.ours, "kept"))
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        mix = write_class(place / "mix", MIX, seed=1)
        right = place / SOLUTION.name  # without the extensions beside it
        shutil.copy(SOLUTION, right)
        some = [right] * AT_ONCE
        peer = Peer("no isolation", lambda: processor_each(kept, some))
        yield from compare([RIGHT], lambda one: processor_each(graders[one], some), checkouts, peer)
        yield from compare(
            [MIXED],
            lambda one: processor_each(graders[one], mix),
            checkouts,
            Peer("import torch", lambda: [import_torch().processor]),
            rounds=1,
            warm=False,
        )
        peer = Peer("no isolation", lambda: [kept.grade(right, "grade")])
        yield from compare(
            [TRAINED],
            lambda one: [graders[one].grade(right, "grade")],
            checkouts,
            peer,
            rounds=2,
            warm=False,
        )
