"""Grades what is to be graded: hands it to the workers, and keeps every answer before it counts.

Work whose worker is killed, or in which something could not be graded, is tried twice again. Where
workers were killed, nothing else is under way the last time, as that may have been the cause. If
that one is killed as well, and others could be graded, it is the submission's result.
"""

import contextlib
import dataclasses
import os
import queue
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any, Protocol

from tensormark.classroom.failure import ClusterError
from tensormark.classroom.store import Attempt, Store
from tensormark.classroom.work import Terms, Work
from tensormark.classroom.worker import Answer
from tensormark.sandbox.interface import printable

TRIES = 3
WAIT = 0.5  # seconds for an answer, before a look at everything else
KILLED, LOST = "its worker was killed", "its worker was lost"
STOPPING = "\nfinishing what is under way; press Ctrl-C again to stop at once\n"
Blame = Callable[[Work], Mapping[str, Any]]  # gives the result of what kills its workers


class Future(Protocol):
    """The answer of a worker, when there is one; Dask's, or that of one_process.py."""

    @property
    def status(self) -> str:
        """How it stands: finished, error, or anything else."""

    def add_done_callback(self, callback: Callable[[Any], Any], /) -> Any:
        """Call something once it is done."""

    def cancel(self) -> Any:
        """Wait for it no longer."""

    def done(self) -> bool:
        """Say whether it is done, in whatever way."""

    def result(self) -> Any:
        """Return the answer."""

    def exception(self) -> Any:
        """Return what was raised in its place."""


class Crew(Protocol):
    """Those who grade: Dask's workers, or this process."""

    fit: dict[str, int]  # the address of each to how much it may have under way
    reason: str  # why the last worker that was lost gave no answer

    @property
    def slots(self) -> int:
        """How much may be under way."""

    @property
    def alive(self) -> bool:
        """Whether answers can still come."""

    def look(self) -> None:
        """Notice who has come or gone."""

    def check(self) -> None:
        """See that somebody is left; ClusterError if not."""

    def refuse(self, address: str, host: str, reason: str) -> None:
        """Give somebody no more work."""

    def submit(self, work: Work) -> Future:
        """Have some work graded."""


class Watcher(Protocol):
    """Is told how a run goes on; see progress.py."""

    def done(self, attempt: Attempt, final: bool) -> None:
        """Take note of an attempt that is in the store.

        Args:
            final: the work will not be tried again.
        """

    def tick(self, slots: int, under_way: int) -> None:
        """Take note of the time."""


class Stop:
    """Whether to stop: after the first Ctrl-C what is under way is finished, the second ends it."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        os.write(2, STOPPING.encode())  # as a stream may be in the middle of something

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Handle Ctrl-C, and the signal that `kill` sends, until the block ends."""
        before = {number: signal.signal(number, self) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@dataclasses.dataclass
class Job:
    """Some work, and how often it was tried in this run.

    Attributes:
        alone: it is tried for the last time, with nothing else under way, as it may kill workers.
    """

    work: Work
    tries: int = 0
    alone: bool = False
    workers: frozenset[str] = frozenset()  # that it was submitted to

    @property
    def last(self) -> bool:
        """Whether it will not be tried again if this try fails."""
        return self.tries + 1 >= TRIES


class Engine:
    """One run."""

    def __init__(
        self,
        crew: Crew,
        store: Store,
        terms: Terms,
        watcher: Watcher,
        stop: Stop,
        blame: Blame,
    ) -> None:
        self.crew, self.store, self.terms = crew, store, terms
        self.watcher, self.stop, self.blame = watcher, stop, blame
        self.waiting: deque[Job] = deque()
        self.suspects: deque[Job] = deque()  # to be tried alone, at the end
        self.under_way: dict[Future, Job] = {}
        self.answered: queue.SimpleQueue[Future] = queue.SimpleQueue()

    def run(self, works: Iterable[Work]) -> None:
        """Grade, until everything is graded or a stop is asked for.

        Raises:
            ClusterError: there is no worker left. StoreError: nothing can be stored.
        """
        self.waiting = deque(map(Job, works))
        while self.under_way or ((self.waiting or self.suspects) and not self.stop.asked):
            self.crew.look()
            self.drop_stranded()
            self.fill()
            with contextlib.suppress(queue.Empty):
                self.take(self.answered.get(timeout=WAIT))
            self.watcher.tick(self.crew.slots, len(self.under_way))

    def fill(self) -> None:
        """Give every slot something to do; what is to be tried alone comes last."""
        if self.stop.asked or any(job.alone for job in self.under_way.values()):
            return
        while self.waiting and len(self.under_way) < self.crew.slots and not self.stop.asked:
            self.begin(self.waiting.popleft())
        if self.suspects and self.crew.slots and not self.under_way and not self.stop.asked:
            self.begin(self.suspects.popleft())

    def begin(self, job: Job) -> None:
        """Have some work graded."""
        job.workers = frozenset(self.crew.fit)
        future = self.crew.submit(job.work)
        self.under_way[future] = job
        future.add_done_callback(self.answered.put)

    def drop_stranded(self) -> None:
        """Take back what no worker that is left may do, as Dask would wait for those that died."""
        for future, job in list(self.under_way.items()):
            if not job.workers & self.crew.fit.keys() and not future.done():
                future.cancel()

    def take(self, future: Future) -> None:
        """Keep an answer, once the slot that gave it has something else to do."""
        job = self.under_way.pop(future, None)
        if job is None:
            return
        answer = self.answer_of(future, job)
        if isinstance(answer, Answer) and answer.refused:
            self.crew.refuse(answer.address, answer.host, answer.refused)
            self.crew.check()
            (self.suspects if job.alone else self.waiting).appendleft(job)
            return
        if isinstance(answer, Answer):
            attempt = Attempt(answer.host, answer.seconds, "", answer.result)
        else:
            self.crew.reason = answer
            attempt = Attempt("", 0.0, answer)
            if answer == KILLED and job.alone and self.store.graded(self.terms):
                attempt = Attempt("", 0.0, "", self.blame(job.work))
        final = self.settled(job, attempt)
        self.fill()
        self.store.add(job.work.digest, self.terms, attempt)
        self.watcher.done(attempt, final)

    def settled(self, job: Job, attempt: Attempt) -> bool:
        """Say whether an attempt is the last, or have the work tried again."""
        if attempt.complete or job.alone:
            return True
        job.tries += 1
        job.alone = attempt.problem == KILLED and job.last
        if job.alone:
            self.suspects.append(job)
        elif job.tries < TRIES:
            self.waiting.append(job)
        return not job.alone and job.tries >= TRIES

    def answer_of(self, future: Future, job: Job) -> Answer | str:
        """Return a worker's answer, or why there is none.

        Raises:
            ClusterError: the scheduler is gone.
        """
        if future.status == "finished":
            answer: Answer = future.result()
            return answer
        if not self.crew.alive:
            raise ClusterError("the scheduler is gone; start it, and run the same command again")
        if future.status != "error":
            return LOST
        error = future.exception()
        tried = getattr(error, "allowed_failures", None)  # of Dask's KilledWorker
        if tried is not None:
            job.tries += tried
            return KILLED
        return f"a worker failed: {printable(f'{type(error).__name__}: {error}')[:300]}"
