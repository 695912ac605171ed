"""Correct solutions that are written differently lose no points."""

from collections.abc import Iterator

import pytest

from tensormark.authoring.variants import Honest
from tensormark.settings import Settings
from tests.helpers import ROOT
from tests.helpers.bench import Bench, lost
from tests.helpers.known import HONEST


@pytest.fixture(scope="module")
def two_threads() -> Iterator[Bench]:
    with Bench(Settings.of(ROOT, threads=2)) as bench:
        yield bench


def test_there_are_enough() -> None:
    assert len(HONEST) >= 60


@pytest.mark.parametrize("one", HONEST, ids=lambda one: one.id)
def test_a_right_solution_passes_everything(bench: Bench, one: Honest) -> None:
    results = bench.grade(one.apply(bench.sources[one.module]), module=one.module)

    assert {name: r.findings for name, r in results.items() if r.findings} == {}
    assert not lost(results)
    assert results


@pytest.mark.sampled(6)  # two threads compute as one does, but for the order of sums
@pytest.mark.parametrize("one", HONEST, ids=lambda one: one.id)
def test_a_right_solution_passes_on_two_threads(two_threads: Bench, one: Honest) -> None:
    results = two_threads.grade(one.apply(two_threads.sources[one.module]), module=one.module)

    assert not lost(results)
