"""Before a run starts, an estimate says how long the run will take, and how sure that is."""

import heapq
import io
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from test_class_store import TERMS, result

from tensormark.classroom.jobs.estimate import FEW, LATEST, bounds, durations, expected
from tensormark.classroom.jobs.progress import Progress
from tensormark.classroom.jobs.store import Attempt, Store


def taken(durations: Sequence[float], workers: int) -> float:
    """Return when the last task ends, if each worker takes the next one as soon as it is free."""
    free = [0.0] * workers
    for seconds in durations:
        heapq.heappush(free, heapq.heappop(free) + seconds)
    return max(free)


def drawn(chance: random.Random, count: int) -> list[float]:
    """Return durations as a class has them: many short, some long, hardly any very long."""
    return [
        chance.choice([chance.uniform(0.1, 2), chance.gammavariate(9, 1)]) for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("sample", "count", "workers", "of_100"), [(40, 300, 8, 95), (300, 40, 8, 95), (20, 30, 64, 90)]
)
def test_a_run_takes_as_long_as_estimated(
    sample: int, count: int, workers: int, of_100: int
) -> None:
    chance = random.Random(5)
    hits = 0
    for _ in range(400):
        least, most = bounds(count, workers, drawn(chance, sample))
        hits += least <= taken(drawn(chance, count), workers) <= most

    assert hits >= of_100 * 4


def test_more_known_durations_make_an_estimate_surer() -> None:
    chance = random.Random(6)
    widths = []
    for sample in (10, 100, 1000):
        least, most = bounds(100_000, 8, drawn(chance, sample))
        widths.append((most - least) / most)

    assert widths == sorted(widths, reverse=True)


def test_a_few_durations_give_no_estimate() -> None:
    assert expected(300, 8, [4.0] * (FEW - 1)) == "no estimate before 8 are graded"
    assert expected(300, 8, [4.0] * FEW) == (
        "2 min to 3 min, if these are like 8 before (4.0 s each, at most 4 s)"
    )


def test_without_a_known_number_of_workers_the_estimate_is_for_one() -> None:
    text = expected(300, 0, [3.0, 5.0] * 500)

    assert text.startswith("19 min to 21 min for one worker, if these are like the last 1000 grad")


def test_known_durations_are_those_of_the_last_attempts_of_the_same_kind(store: Store) -> None:
    store.add("other", replace(TERMS, mode="grade"), Attempt("a", 90.0, "", result()))
    store.add("other", replace(TERMS, tier="process"), Attempt("a", 91.0, "", result()))
    store.add("lost", TERMS, Attempt("", 0.0, "its worker was lost"))
    store.add("old", replace(TERMS, code="before"), Attempt("a", 7.0, "", result()))
    assert durations(store, TERMS) == [7.0]

    with store.change() as file:
        columns = "(NULL, 'x', '', '', '', ?, ?, '', '', ?, '', 1, NULL)"
        rows = [(TERMS.mode, TERMS.tier, 1.0)] * LATEST
        file.executemany(f"INSERT INTO attempt VALUES {columns}", rows)
    assert durations(store, TERMS) == [1.0] * LATEST


def lines(total: int, slots: int, estimated: bool) -> list[str]:
    stream = io.StringIO()
    progress = Progress(total, stream, estimated)
    for number in range(1, total + 1):
        progress.done(Attempt("a", 2.0, "", result()), final=True)
        progress.tick(slots, min(slots, total - number))
    return stream.getvalue().splitlines()


def test_the_first_graded_submissions_give_an_estimate_once() -> None:
    assert lines(100, 6, estimated=False) == [
        "88 to go: 29 s to 31 s, if these are like 12 before (2.0 s each, at most 2 s)"
    ]
    assert lines(100, 6, estimated=True) == []


def test_when_nothing_is_left_to_begin_no_estimate_is_printed() -> None:
    assert lines(11, 4, estimated=False) == []
