"""The same code, the same score with more threads.

The golden corpus is the same on other processors, and tests/hostile scores the same in each tier.
"""

import contextlib

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.grading import Grading
from tensormark.settings import Settings
from tests.helpers import ROOT
from tests.helpers.known import HONEST, VARIANTS
from tests.helpers.source_bench import SourceBench

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]
MISTAKES = 60


def checked(threads):
    """Return the verdicts on honest and wrong code."""
    verdicts = []
    with contextlib.closing(SourceBench(threads)) as bench:
        for one in (*HONEST, *VARIANTS[:: len(VARIANTS) // MISTAKES]):
            results = bench.ask(one.apply(bench.sources[one.module]), module=one.module)
            verdicts += [(r.id, r.outcome, r.score, r.findings) for r in results.values()]
    return verdicts


def trained(threads):
    """Return the verdicts on the solution, with its training, whose accuracy may differ."""
    grading = Grading(Settings.of(ROOT, threads=threads), ASSIGNMENT)
    graded = grading.grade(grading.read(str(ROOT / "solution")))
    return [(result.id, result.outcome, result.score) for result in graded.results]


def test_checks_have_the_same_verdicts_with_two_threads():
    assert checked(2) == checked(1)


def test_a_training_is_worth_the_same_with_two_threads():
    assert trained(2) == trained(1)
