"""Has jobs done: hands them to the workers, and keeps every answer before it counts.

A job is work to grade, or to make questions on. One whose worker is killed, or in which something
could not be graded, is tried twice again. Where workers were killed, nothing else is under way the
last time, as that may have been the cause. If that one is killed as well, and others could be done,
it is the submission's result.
"""

import contextlib
import dataclasses
import os
import queue
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from tensormark.classroom.failure import ClusterError
from tensormark.classroom.progress import Progress
from tensormark.classroom.store import Attempt
from tensormark.classroom.work import Ask, Terms, Work
from tensormark.classroom.worker import Answer
from tensormark.sandbox.interface import printable

if TYPE_CHECKING:  # either kind of crew will do, and with one nobody needs Dask
    from distributed import Future

    from tensormark.classroom.cluster import Crew
    from tensormark.classroom.crews import OneProcess

TRIES = 3
WAIT = 0.5  # seconds for an answer, before a look at everything else
KILLED, LOST = "its worker was killed", "its worker was lost"
STOPPING = "\nfinishing what is under way; press Ctrl-C again to stop at once\n"
J = TypeVar("J", Work, Ask)
Blame = Callable[[J], Mapping[str, Any]]  # gives the result of what kills its workers


class Keeper(Protocol):
    """Where answers are kept, such as a store."""

    def add(self, job: str, terms: Terms, attempt: Attempt, /) -> None:
        """Keep an attempt; it is on the disk when this returns."""

    def graded(self, terms: Terms, /) -> set[str]:
        """Return the digests of all that is done with these terms."""


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
class _Task(Generic[J]):
    """A job, and how often it was tried in this run.

    Attributes:
        alone: it is tried for the last time, with nothing else under way, as it may kill workers.
    """

    job: J
    tries: int = 0
    alone: bool = False
    workers: frozenset[str] = frozenset()  # that it was submitted to

    @property
    def last(self) -> bool:
        """Whether it will not be tried again if this try fails."""
        return self.tries + 1 >= TRIES


class Engine(Generic[J]):
    """One round of a run."""

    def __init__(
        self,
        crew: "Crew | OneProcess",
        keeper: Keeper,
        terms: Terms,
        progress: Progress,
        stop: Stop,
        blame: Blame[J],
    ) -> None:
        self.crew, self.keeper, self.terms = crew, keeper, terms
        self.progress, self.stop = progress, stop
        self.blame: Blame[J] = blame
        self.waiting: deque[_Task[J]] = deque()
        self.suspects: deque[_Task[J]] = deque()  # to be tried alone, at the end
        self.under_way: dict[Future, _Task[J]] = {}
        self.fit = self.checked = frozenset[str]()  # workers; there may be thousands
        self.answered: queue.SimpleQueue[Future] = queue.SimpleQueue()

    def run(self, jobs: Iterable[J]) -> None:
        """Go on until everything is done or a stop is asked for.

        Raises:
            ClusterError: there is no worker left. StoreError: nothing can be stored.
        """
        self.waiting = deque(_Task(job) for job in jobs)
        while self.under_way or ((self.waiting or self.suspects) and not self.stop.asked):
            self.crew.look()
            self._drop_stranded()
            self.fill()
            with contextlib.suppress(queue.Empty):
                self.take(self.answered.get(timeout=WAIT))
            self.progress.tick(self.crew.slots, len(self.under_way))

    def fill(self) -> None:
        """Give every slot something to do; what is to be tried alone comes last."""
        if self.stop.asked or any(task.alone for task in self.under_way.values()):
            return
        while self.waiting and len(self.under_way) < self.crew.slots and not self.stop.asked:
            self.begin(self.waiting.popleft())
        if self.suspects and self.crew.slots and not self.under_way and not self.stop.asked:
            self.begin(self.suspects.popleft())

    def begin(self, task: _Task[J]) -> None:
        """Have a job done."""
        task.workers = self.workers()
        future = self.crew.submit(task.job)
        self.under_way[future] = task
        future.add_done_callback(self.answered.put)

    def workers(self) -> frozenset[str]:
        """Return the workers that may grade; as long as they are the same, the same object."""
        if self.crew.fit.keys() != self.fit:
            self.fit = frozenset(self.crew.fit)
        return self.fit

    def _drop_stranded(self) -> None:
        """Take back what no worker that is left may do, as Dask would wait for those that died."""
        if self.workers() is self.checked:
            return
        self.checked = self.workers()
        for future, task in list(self.under_way.items()):
            if task.workers.isdisjoint(self.checked) and not future.done():
                future.cancel()

    def take(self, future: "Future") -> None:
        """Keep an answer, once the slot that gave it has something else to do."""
        task = self.under_way.pop(future, None)
        if task is None:
            return
        answer = self._answer(future, task)
        if isinstance(answer, Answer) and answer.refused:
            self.crew.refuse(answer.address, answer.host, answer.refused)
            self.crew.check()
            (self.suspects if task.alone else self.waiting).appendleft(task)
            return
        if isinstance(answer, Answer):
            attempt = Attempt(answer.host, answer.seconds, "", answer.result)
        else:
            self.crew.reason = answer
            attempt = Attempt("", 0.0, answer)
            if answer == KILLED and task.alone and self.keeper.graded(self.terms):
                attempt = Attempt("", 0.0, "", self.blame(task.job))
        final = self._is_last(task, attempt)
        self.fill()
        self.keeper.add(task.job.digest, self.terms, attempt)
        self.progress.done(attempt, final)

    def _is_last(self, task: _Task[J], attempt: Attempt) -> bool:
        """Say whether an attempt is the last, or have the job tried again."""
        if attempt.complete or task.alone:
            return True
        task.tries += 1
        task.alone = attempt.problem == KILLED and task.last
        if task.alone:
            self.suspects.append(task)
        elif task.tries < TRIES:
            self.waiting.append(task)
        return not task.alone and task.tries >= TRIES

    def _answer(self, future: "Future", task: _Task[J]) -> Answer | str:
        """Return a worker's answer, or why there is none."""
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
            task.tries += tried
            return KILLED
        return f"a worker failed: {printable(f'{type(error).__name__}: {error}')[:300]}"
