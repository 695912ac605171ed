"""The same code, the same score with more threads.

The golden corpus is the same on other processors, and tests/hostile scores the same in each tier.
"""

import contextlib

import pytest

from tests.helpers.known import HONEST, VARIANTS
from tests.helpers.source_bench import SourceBench

MISTAKES = 60


def checked(threads):
    """Return the verdicts on honest and wrong code."""
    verdicts = []
    with contextlib.closing(SourceBench(threads)) as bench:
        for one in (*HONEST, *VARIANTS[:: len(VARIANTS) // MISTAKES]):
            results = bench.ask(one.apply(bench.sources[one.module]), module=one.module)
            verdicts += [(r.id, r.outcome, r.score, r.findings) for r in results.values()]
    return verdicts


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_checks_have_the_same_verdicts_with_two_threads():
    assert checked(2) == checked(1)
