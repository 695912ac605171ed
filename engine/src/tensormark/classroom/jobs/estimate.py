"""Estimate before a run how long it will take, from how long grading took before.

Known durations are treated as a sample of those to come: if both have the same distribution, their
means differ by less than two standard errors in 19 of 20 cases. Workers that take the next hand-in
as soon as they are free need at least the sum of the durations divided by the number of workers,
and at most the longest duration more [1]. With few hand-ins, in 1 of 10 cases one takes longer than
all before, which is missed. Not covered: hand-ins of a different kind, faster or busier machines,
and the client's time per hand-in, which limits hundreds of workers.

[1] Graham, Bounds on multiprocessing timing anomalies, 1969.
"""

import math
import statistics
from collections.abc import Sequence

from tensormark.classroom.jobs.store import Store
from tensormark.classroom.jobs.work import Terms

FEW = 8  # too few durations below this
LATEST = 1000  # older durations are ignored, because machines change
QUERY = """SELECT seconds FROM attempt WHERE mode = ? AND tier = ? AND seconds > 0
    ORDER BY id DESC LIMIT ?"""


def durations(store: Store, terms: Terms) -> list[float]:
    """Return the seconds of the latest gradings in the same mode and tier, by any version."""
    return [float(row[0]) for row in store.rows(QUERY, terms.mode, terms.tier, LATEST)]


def bounds(count: int, workers: int, times: Sequence[float]) -> tuple[float, float]:
    """Return the least and the most seconds that `count` hand-ins will probably take.

    Args:
        times: at least two durations in seconds.
    """
    workers = min(workers, count)
    mean, spread = statistics.fmean(times), statistics.stdev(times)
    error = 2 * spread * math.sqrt(1 / len(times) + 1 / count)
    least = max(mean - error, min(times)) * count / workers
    return least, (mean + error) * count / workers + max(times) * (1 - 1 / workers)


def spent(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours and minutes."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def span(count: int, workers: int, times: Sequence[float]) -> str:
    """Return the range of a run's probable duration as text; see `bounds`."""
    least, most = map(spent, bounds(count, workers, times))
    return least if least == most else f"{least} to {most}"


def expected(count: int, workers: int, times: Sequence[float], done: str = "graded") -> str:
    """Say how long `count` hand-ins will take, or that there is no estimate yet.

    Args:
        workers: 0 if their number is unknown.
        done: the participle that describes finished hand-ins.
    """
    if len(times) < FEW:
        return f"no estimate before {FEW} are {done}"
    time = span(count, workers or 1, times) + ("" if workers else " for one worker")
    which = f"the last {len(times)} {done}" if len(times) == LATEST else f"{len(times)} before"
    sample = f"{statistics.fmean(times):.1f} s each, at most {max(times):.0f} s"
    return f"{time}, if these are like {which} ({sample})"
