"""Measures each grading after a process's first, with isolation and without.

Gradings are measured in processor seconds, the student's code included; the row with the training
is in seconds.
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

MIXED_CLASS_SIZE = 25
GRADINGS_PER_MEASUREMENT = 4  # because a clock tick is 0.01 s
SOLUTION = ROOT / "solution" / "bert.py"
CORRECT_LINE = Line("another correct submission, contained", "s CPU", most=0.22)
MIXED_LINE = Line("one of a mixed class, contained", "s CPU", most=0.35)
TRAINING_LINE = Line("a correct submission, with training", "s")


def processor_seconds(grader: Grader, paths: Sequence[Path]) -> Sequence[float]:
    """Grade submissions, and return the mean processor seconds of one."""
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
        shared_worker = stack.enter_context(grader(checkouts.ours, "kept"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        mixed_class = write_class(folder / "mix", MIXED_CLASS_SIZE, seed=1)
        correct = folder / SOLUTION.name  # without the extensions beside it
        shutil.copy(SOLUTION, correct)
        copies = [correct] * GRADINGS_PER_MEASUREMENT
        peer = Peer("no isolation", lambda: processor_seconds(shared_worker, copies))
        yield from compare(
            [CORRECT_LINE], lambda c: processor_seconds(graders[c], copies), checkouts, peer
        )
        yield from compare(
            [MIXED_LINE],
            lambda c: processor_seconds(graders[c], mixed_class),
            checkouts,
            Peer("import torch", lambda: [import_torch().processor]),
            rounds=1,
            warm=False,
        )
        peer = Peer("no isolation", lambda: [shared_worker.grade(correct, "grade")])
        yield from compare(
            [TRAINING_LINE],
            lambda c: [graders[c].grade(correct, "grade")],
            checkouts,
            peer,
            rounds=2,
            warm=False,
        )
