"""Correct solutions that are written differently lose no points."""

from collections.abc import Iterator

import pytest
from bench import Bench, lost

from grader.settings import Settings
from instructor.references.honest import Honest, honest


@pytest.fixture(scope="module")
def two_threads() -> Iterator[Bench]:
    with Bench(Settings(threads=2)) as bench:
        yield bench


def test_there_are_enough() -> None:
    assert len(honest()) >= 60


@pytest.mark.parametrize("one", honest(), ids=lambda one: one.id)
def test_a_right_solution_passes_everything(bench: Bench, one: Honest) -> None:
    results = bench.grade(one.apply(bench.sources[one.module]), module=one.module)

    assert {name: r.findings for name, r in results.items() if r.findings} == {}
    assert not lost(results)
    assert results


@pytest.mark.parametrize("one", honest(), ids=lambda one: one.id)
def test_a_right_solution_passes_on_two_threads(two_threads: Bench, one: Honest) -> None:
    results = two_threads.grade(one.apply(two_threads.sources[one.module]), module=one.module)

    assert not lost(results)
