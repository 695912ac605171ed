"""Simulate how long a class of any size takes on any number of workers: `make bench-class`.

The engine that hands out hand-ins is the real one; grading is replaced by a clock that jumps to the
next answer. How long grading takes is drawn from a class's own store (OUT=), or from the times in
class_times.json. The client's processor time for each hand-in is measured now, while hand-ins go
through Dask to workers that do nothing. Killed or retried gradings, workers that come and go, and
the network are not simulated.
"""

import argparse
import contextlib
import heapq
import io
import itertools
import json
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.many import growth
from instructor import ROOT
from tensormark.classroom.jobs import cluster
from tensormark.classroom.jobs.engine import Engine, Stop
from tensormark.classroom.jobs.estimate import span, spent
from tensormark.classroom.jobs.parcel import Parcel
from tensormark.classroom.jobs.progress import Progress
from tensormark.classroom.jobs.store import Attempt, Store
from tensormark.classroom.jobs.work import Job, Terms, Work
from tensormark.classroom.jobs.worker import Answer
from tensormark.classroom.options import MOST_WORKERS, STORE

RECORDED_TIMES = Path(__file__).with_name("class_times.json")
TERMS = Terms("", {}, "", "", "contained", "grade", 1.0, 1.0)
MEASURED_HAND_INS = 300  # that go through Dask
EMPTY_RESULT: dict[str, Any] = {"exercises": []}


class SimulatedRun(NamedTuple):
    """The duration of a simulated run, in seconds.

    Attributes:
        busy: the time that all workers together were busy; client: the time that the client was.
    """

    seconds: float
    busy: float
    client: float


class _Future:
    """An answer that arrives when the clock says so."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.status = answer, "pending"
        self.callbacks: list[Callable[[Any], None]] = []

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self.callbacks.append(callback)

    def done(self) -> bool:
        return self.status == "finished"

    def result(self) -> Answer:
        return self.answer

    def finish(self) -> None:
        self.status = "finished"
        for callback in self.callbacks:
            callback(self)


class SimulatedCrew:
    """Stands in for a cluster's workers; time jumps from one answer to the next.

    The client is one process: it starts one hand-in after another, each in `client` seconds.
    """

    def __init__(self, workers: int, durations: Iterator[float], client: float) -> None:
        self.graders = {f"worker {number}": 1 for number in range(workers)}
        self.slots, self.alive, self.reason = workers, True, ""
        self.durations, self.client = durations, client
        self.now, self.busy, self.order = 0.0, 0.0, itertools.count()
        self.answers: list[tuple[float, int, _Future]] = []

    def refresh(self) -> None:
        """Deliver the next answer."""
        if self.answers:
            time_of_answer, _, future = heapq.heappop(self.answers)
            self.now = max(self.now, time_of_answer)
            future.finish()

    def submit(self, work: Work) -> _Future:
        """Start a hand-in."""
        seconds = next(self.durations)
        self.now += self.client
        self.busy += seconds
        future = _Future(Answer("", "", "", EMPTY_RESULT, seconds))
        heapq.heappush(self.answers, (self.now + seconds, next(self.order), future))
        return future


class _NullStore:
    """A store that keeps nothing: the cost of a real one is part of the client's time."""

    def add(self, work: str, terms: Terms, attempt: Attempt) -> None:
        pass


def simulate(count: int, workers: int, durations: Iterator[float], client: float) -> SimulatedRun:
    """Have the real engine hand out `count` hand-ins.

    Args:
        client: the seconds that each takes the client.
    """
    crew: Any = SimulatedCrew(workers, durations, client)
    store: Any = _NullStore()
    works = [Work({"bert": str(number)}) for number in range(count)]
    progress = Progress(count, io.StringIO())
    Engine(crew, store, TERMS, progress, Stop(), lambda _: EMPTY_RESULT).run(works)
    assert progress.finished == count
    return SimulatedRun(crew.now, crew.busy, count * client)


def answer_at_once(job: Job, *_: object) -> Answer:
    """Return a result of the usual size, without grading."""
    return Answer("", "", "", EMPTY_RESULT | {"printed": "x" * 11_000}, 1.0)


def client_seconds(workers: int, count: int = MEASURED_HAND_INS) -> float:
    """Return the processor seconds of client and scheduler for each hand-in, through real Dask.

    There are two real workers; of the others, only the addresses go with each hand-in, to say
    which workers may take it, as on a shared scheduler.
    """
    source = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    works = [Work({"bert": f"{source}# {number}"}) for number in range(count)]
    progress = Progress(count, io.StringIO())
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / STORE) as store,
        cluster.connect("", 2, ROOT) as client,
    ):
        parcel, task = Parcel("0", b""), answer_at_once
        crew = cluster.Crew(client, TERMS, parcel, False, print, task)
        absent_numbers = range(workers - len(client.nthreads()))
        absent = {f"tcp://10.0.{n // 250}.{n % 250}:40000": 0 for n in absent_numbers}
        crew.graders = absent | client.nthreads()
        crew.last_refresh = float("inf")  # none of them needs a grader
        before = time.process_time()
        Engine(crew, store, TERMS, progress, Stop(), lambda _: EMPTY_RESULT).run(works)
        return (time.process_time() - before) / count


def recorded_times(out: Path | None) -> tuple[str, list[float]]:
    """Return where durations of gradings are from, and the durations."""
    if out is None:
        times = json.loads(RECORDED_TIMES.read_text(encoding="utf-8"))
        return str(times["from"]), list(times["seconds"])
    uri = f"{(out / STORE).resolve().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True)) as file:
        query = "SELECT seconds FROM attempt WHERE seconds > 0"
        return str(out / STORE), [float(row[0]) for row in file.execute(query)]


def report(count: int, workers: int, times: Sequence[float], client: float) -> Iterator[str]:
    """Yield lines on a simulated run, and on the time that can be computed without one."""
    rng = random.Random(count)
    run = simulate(count, workers, (rng.choice(times) for _ in itertools.count()), client)
    mean, idle = statistics.fmean(times), 1 - run.busy / (workers * run.seconds)
    bound = max(count * mean / workers, count * client)
    yield f"simulated   {spent(run.seconds)}, with workers idle for {idle:.1%} of it"
    estimate = span(count, workers, times)
    yield f"on paper    {spent(bound)}; a run's own estimate at its start: {estimate}"
    share = run.client / run.seconds
    yield f"client      busy for {share:.0%} of it; it can serve {mean / client:,.0f} workers"


def main() -> None:
    """Print what a class would cost."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="simulate", description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--simulate", type=int, default=100_000, help="how many hand-ins")
    add("--workers", type=int, default=200, help=f"1 to {MOST_WORKERS} or more")
    add("--out", type=Path, help="a class to take durations from")
    options = parser.parse_args()
    if min(options.simulate, options.workers) < 1:
        parser.error("at least one hand-in and one worker are needed")
    source, times = recorded_times(options.out)
    sample = f"{statistics.fmean(times):.1f} s each, at most {max(times):.0f} s"
    client = client_seconds(options.workers)
    print(f"{options.simulate:,} hand-ins on {options.workers:,} workers of one thread")
    print(f"grading     {len(times)} durations, {sample}: {source}")
    print(f"client      {1000 * client:.1f} ms of a core for each, measured now\n")
    for line in report(options.simulate, options.workers, times, client):
        print(line, flush=True)
    for line in growth(options.simulate):
        print(line, flush=True)


if __name__ == "__main__":
    main()
