"""A class that is simulated takes as long as the real engine with workers of that speed would."""

import itertools
import json
import random
from pathlib import Path

import pytest
from test_estimate import drawn, taken

from benchmarks import many, simulate
from tensormark.classroom.jobs.store import Attempt, Store
from tensormark.classroom.options import STORE


def test_workers_of_equal_speed_end_when_arithmetic_says() -> None:
    simulation = simulate.simulate(101, 8, itertools.repeat(2.0), 0.0)

    assert simulation == (26.0, 202.0, 0.0)


def test_each_worker_takes_the_next_submission_as_soon_as_it_is_free() -> None:
    durations = drawn(random.Random(7), 200)

    simulation = simulate.simulate(200, 16, iter(durations), 0.0)

    assert simulation.seconds == pytest.approx(taken(durations, 16))
    assert simulation.busy == pytest.approx(sum(durations))


def test_many_workers_wait_for_the_one_client() -> None:
    simulation = simulate.simulate(1000, 100, itertools.repeat(1.0), 0.1)

    assert simulation.seconds == pytest.approx(1000 * 0.1 + 1)
    assert simulation.client == pytest.approx(100)


def test_times_come_from_the_source_that_is_named(tmp_path: Path) -> None:
    source, times = simulate.recorded_times(None)
    assert source == json.loads(simulate.RECORDED_TIMES.read_text(encoding="utf-8"))["from"]
    assert len(times) == 60

    with Store(tmp_path / STORE) as store:
        store.add("x", simulate.TERMS, Attempt("a", 4.5))
        store.add("y", simulate.TERMS, Attempt("", 0.0, "its worker was lost"))
    assert simulate.recorded_times(tmp_path) == (str(tmp_path / STORE), [4.5])


def test_the_report_has_the_simulation_beside_what_is_expected_on_paper() -> None:
    lines = list(simulate.report(800, 8, [3.0, 3.0], 0.015))

    assert lines == [
        "simulated   5 min, with workers idle for 0.5% of it",
        "on paper    5 min; a run's own estimate at its start: 5 min",
        "client      busy for 4% of it; it can serve 200 workers",
    ]


def test_the_space_that_a_class_needs_grows_with_it(tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    (tmp_path / "more").mkdir()

    few = many.write(tmp_path / "few", 4, traced=False)
    more = many.write(tmp_path / "more", 40, traced=False)

    results = 36 * many.RESULT_LENGTH
    assert 0.8 * results < more.store - few.store < 2 * results
    assert more.feedback - few.feedback > results
    assert more.page > few.page
