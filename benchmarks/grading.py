"""What each grading after the first costs in one process, and what isolation adds.

Processor seconds, including the student's code; only the last row includes the training.
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
AT_ONCE = 4  # gradings per measurement, as a clock tick is 0.01 s
SOLUTION = ROOT / "solution" / "bert.py"
RIGHT = Line("another right one, contained", "s CPU", most=0.22)
MIXED = Line("one of a class's mix, contained", "s CPU", most=0.35)
TRAINED = Line("a right one with its training", "s")


def processor_each(grader: Grader, paths: Sequence[Path]) -> Sequence[float]:
    """Grade submissions; return the processor seconds for each."""
    seconds = processors_of(grader.process.pid)
    before = sum(seconds.values())
    for path in paths:
        grader.grade(path)
        seconds |= processors_of(grader.process.pid)  # a hostile one may end a container
    return [(sum(seconds.values()) - before) / len(paths)]


def rows(checkouts: Checkouts) -> Iterator[Row]:
    """Measure gradings in `contained`, and the same checks in one process without isolation."""
    with ExitStack() as stack:
        graders = {
            checkout: stack.enter_context(grader(checkout, CONTAINED))
            for checkout in checkouts
            if checkout is not None
        }
        server = stack.enter_context(grader(checkouts.ours, "kept"))
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        mix = write_class(place / "mix", MIX, seed=1)
        right = place / SOLUTION.name  # without the extensions beside it
        shutil.copy(SOLUTION, right)
        copies = [right] * AT_ONCE
        peer = Peer("no isolation", lambda: processor_each(server, copies))
        yield from compare([RIGHT], lambda c: processor_each(graders[c], copies), checkouts, peer)
        yield from compare(
            [MIXED],
            lambda c: processor_each(graders[c], mix),
            checkouts,
            Peer("import torch", lambda: [import_torch().processor]),
            rounds=1,
            warm=False,
        )
        peer = Peer("no isolation", lambda: [server.grade(right, "grade")])
        yield from compare(
            [TRAINED],
            lambda c: [graders[c].grade(right, "grade")],
            checkouts,
            peer,
            rounds=2,
            warm=False,
        )
