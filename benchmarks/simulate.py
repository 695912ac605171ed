"""How long a class of any size would take on any number of workers: `make bench-class`.

The engine that hands out hand-ins is the real one; grading is replaced by a clock that jumps to the
next answer. How long grading takes is drawn from a class's own store (OUT=), or from what was
recorded in class_times.json. What the client takes for each is measured now: its processor time
while hand-ins go through Dask to workers that do nothing. Not simulated: what is killed or tried
again, workers that come and go, and a network.
"""

import argparse
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
from tensormark.classroom import cluster
from tensormark.classroom.engine import Engine, Stop
from tensormark.classroom.estimate import span, spent
from tensormark.classroom.options import MOST_WORKERS, STORE
from tensormark.classroom.parcel import Parcel
from tensormark.classroom.progress import Progress
from tensormark.classroom.store import Attempt, Store
from tensormark.classroom.work import Job, Terms, Work
from tensormark.classroom.worker import Answer

RECORDED = Path(__file__).with_name("class_times.json")
TERMS = Terms("", {}, "", "", "contained", "grade", 1.0, 1.0)
MEASURED = 300  # hand-ins that go through Dask
NOTHING: dict[str, Any] = {"exercises": []}


class Simulated(NamedTuple):
    """What a simulated run took, in seconds.

    Attributes:
        busy: of all workers together; client: of the client.
    """

    seconds: float
    busy: float
    client: float


class _Future:
    """An answer that is there once the clock says so."""

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


class Clockwork:
    """Workers in the place of a cluster's, for whom time jumps from one answer to the next.

    The client is one process: it begins one hand-in after another, which takes `client` seconds.
    """

    def __init__(self, workers: int, durations: Iterator[float], client: float) -> None:
        self.graders = {f"worker {number}": 1 for number in range(workers)}
        self.slots, self.alive, self.reason = workers, True, ""
        self.durations, self.client = durations, client
        self.now, self.busy, self.begun = 0.0, 0.0, itertools.count()
        self.answers: list[tuple[float, int, _Future]] = []

    def refresh(self) -> None:
        """Let the next answer come."""
        if self.answers:
            then, _, future = heapq.heappop(self.answers)
            self.now = max(self.now, then)
            future.finish()

    def submit(self, work: Work) -> _Future:
        """Begin a hand-in."""
        seconds = next(self.durations)
        self.now += self.client
        self.busy += seconds
        future = _Future(Answer("", "", "", NOTHING, seconds))
        heapq.heappush(self.answers, (self.now + seconds, next(self.begun), future))
        return future


class _Nowhere:
    """A store that keeps nothing: what a real one takes is part of the client's time."""

    def add(self, work: str, terms: Terms, attempt: Attempt) -> None:
        pass


def simulated(count: int, workers: int, durations: Iterator[float], client: float) -> Simulated:
    """Have the real engine hand out so many hand-ins.

    Args:
        client: the seconds that it takes for each.
    """
    crew: Any = Clockwork(workers, durations, client)
    store: Any = _Nowhere()
    works = [Work({"bert": str(number)}) for number in range(count)]
    progress = Progress(count, io.StringIO())
    Engine(crew, store, TERMS, progress, Stop(), lambda _: NOTHING).run(works)
    assert progress.finished == count
    return Simulated(crew.now, crew.busy, count * client)


def answered_at_once(job: Job, *_: object) -> Answer:
    """Return a result of the usual size, without grading."""
    return Answer("", "", "", NOTHING | {"printed": "x" * 11_000}, 1.0)


def client_seconds(workers: int, count: int = MEASURED) -> float:
    """Return the processor seconds of client and scheduler for each hand-in, through real Dask.

    Two workers are there; of the others only the addresses go with each hand-in, to say which
    workers may take it, as on a scheduler that is shared.
    """
    source = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    works = [Work({"bert": f"{source}# {number}"}) for number in range(count)]
    progress = Progress(count, io.StringIO())
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / STORE) as store,
        cluster.connect("", 2, ROOT) as client,
    ):
        parcel, task = Parcel("0", b""), answered_at_once
        crew = cluster.Crew(client, TERMS, parcel, False, print, task)
        others = range(workers - len(client.nthreads()))
        absent = {f"tcp://10.0.{n // 250}.{n % 250}:40000": 0 for n in others}
        crew.graders = absent | client.nthreads()
        crew.last_refresh = float("inf")  # none of them needs a grader
        before = time.process_time()
        Engine(crew, store, TERMS, progress, Stop(), lambda _: NOTHING).run(works)
        return (time.process_time() - before) / count


def recorded(out: Path | None) -> tuple[str, list[float]]:
    """Return durations of gradings, and where they are from."""
    if out is None:
        found = json.loads(RECORDED.read_text(encoding="utf-8"))
        return str(found["from"]), list(found["seconds"])
    with sqlite3.connect(f"{(out / STORE).resolve().as_uri()}?mode=ro", uri=True) as file:
        query = "SELECT seconds FROM attempt WHERE seconds > 0"
        return str(out / STORE), [float(row[0]) for row in file.execute(query)]


def report(count: int, workers: int, known: Sequence[float], client: float) -> Iterator[str]:
    """Yield what a simulated run says, beside what can be said without one."""
    chance = random.Random(count)
    found = simulated(count, workers, (chance.choice(known) for _ in itertools.count()), client)
    mean, idle = statistics.fmean(known), 1 - found.busy / (workers * found.seconds)
    on_paper = max(count * mean / workers, count * client)
    yield f"simulated   {spent(found.seconds)}, and workers stand idle for {idle:.1%} of it"
    said = span(count, workers, known)
    yield f"on paper    {spent(on_paper)}; before it begins, a run says: {said}"
    share = found.client / found.seconds
    yield f"client      busy for {share:.0%} of it; it can serve {mean / client:,.0f} workers"


def main() -> None:
    """Print what so many hand-ins would cost."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="simulate", description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--simulate", type=int, default=100_000, help="hand-ins")
    add("--workers", type=int, default=200, help=f"1 to {MOST_WORKERS} or more")
    add("--out", type=Path, help="a class whose durations are taken")
    options = parser.parse_args()
    if min(options.simulate, options.workers) < 1:
        parser.error("there is at least one hand-in, and one worker")
    about, known = recorded(options.out)
    sample = f"{statistics.fmean(known):.1f} s each, at most {max(known):.0f} s"
    client = client_seconds(options.workers)
    print(f"{options.simulate:,} hand-ins on {options.workers:,} workers of one thread")
    print(f"grading     {len(known)} durations, {sample}: {about}")
    print(f"client      {1000 * client:.1f} ms of a core for each, measured now\n")
    for line in report(options.simulate, options.workers, known, client):
        print(line, flush=True)
    for line in growth(options.simulate):
        print(line, flush=True)


if __name__ == "__main__":
    main()
