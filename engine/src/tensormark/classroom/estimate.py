"""How long a run will take, said before it starts, from how long grading took before.

Those that are known count as a sample of those to come: if both are drawn from the same, their
means differ by less than two standard errors in 19 of 20 cases. Workers that take the next hand-in
as soon as they are free need at least the sum of the durations by their number, and at most the
longest one more [1]. Of few hand-ins, one is longer than all before in 1 of 10 cases: missed.
Not covered: hand-ins of another kind, machines that are faster or busier, and what the client takes
for each, which limits hundreds of workers.

[1] Graham, Bounds on multiprocessing timing anomalies, 1969.
"""

import math
import statistics
from collections.abc import Sequence

from tensormark.classroom.store import Store
from tensormark.classroom.work import Terms

FEW = 8  # fewer durations tell nothing
LATEST = 1000  # those that are looked at, as machines change
QUERY = """SELECT seconds FROM attempt WHERE mode = ? AND tier = ? AND seconds > 0
    ORDER BY id DESC LIMIT ?"""


def durations(store: Store, terms: Terms) -> list[float]:
    """Return the seconds of the last gradings that did as much, with whatever version."""
    return [float(row[0]) for row in store.rows(QUERY, terms.mode, terms.tier, LATEST)]


def bounds(count: int, workers: int, known: Sequence[float]) -> tuple[float, float]:
    """Return the seconds that so many hand-ins will take at least and at most, probably.

    Args:
        known: at least two durations.
    """
    workers = min(workers, count)
    mean, spread = statistics.fmean(known), statistics.stdev(known)
    error = 2 * spread * math.sqrt(1 / len(known) + 1 / count)
    least = max(mean - error, min(known)) * count / workers
    return least, (mean + error) * count / workers + max(known) * (1 - 1 / workers)


def spent(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def span(count: int, workers: int, known: Sequence[float]) -> str:
    """Say between which times a run will probably end; see `bounds`."""
    least, most = map(spent, bounds(count, workers, known))
    return least if least == most else f"{least} to {most}"


def expected(count: int, workers: int, known: Sequence[float], done: str = "graded") -> str:
    """Say how long so many hand-ins will take, or that nobody knows.

    Args:
        workers: 0 if it is not known how many there are.
        done: what they will be.
    """
    if len(known) < FEW:
        return f"no estimate before {FEW} are {done}"
    time = span(count, workers or 1, known) + ("" if workers else " of one worker")
    which = f"the last {len(known)} {done}" if len(known) == LATEST else f"{len(known)} before"
    sample = f"{statistics.fmean(known):.1f} s each, at most {max(known):.0f} s"
    return f"{time}, if these are like {which} ({sample})"
