"""Run jobs: hand them to the workers, and store every answer before it counts.

A job is a submission to grade, or to make questions on. If its worker is killed, or something in it
could not be graded, it is retried twice. If workers were killed, the last try runs with nothing
else in progress, because other submissions may have been the cause. If that worker is killed as
well, and other submissions could be graded, being killed is the submission's result.
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

from tensormark.classroom.jobs.progress import Progress
from tensormark.classroom.jobs.store import Attempt
from tensormark.classroom.jobs.work import Ask, Terms, Work
from tensormark.classroom.jobs.worker import Answer
from tensormark.sandbox.interface import printable
from tensormark.usage import UserError

if TYPE_CHECKING:  # either kind of crew will do, and one of them needs no Dask
    from distributed import Future

    from tensormark.classroom.jobs.cluster import Crew
    from tensormark.classroom.jobs.crews import OneProcess

TRIES = 3
WAIT = 0.5  # seconds to wait for an answer before checking everything else
KILLED, LOST = "its worker was killed", "its worker was lost"
STOPPING = "\nfinishing what is under way; press Ctrl-C again to stop at once\n"
J = TypeVar("J", Work, Ask)
Blame = Callable[[J], Mapping[str, Any]]  # returns the result of a job that kills its workers


class Keeper(Protocol):
    """Where answers are stored."""

    def add(self, job: str, terms: Terms, attempt: Attempt, /) -> None:
        """Store an attempt; it is on disk when this returns."""

    def graded(self, terms: Terms, /) -> set[str]:
        """Return the digests of all jobs that are done with these terms."""


class Stop:
    """Whether to stop: the first Ctrl-C lets jobs in progress finish, the second aborts them."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        os.write(2, STOPPING.encode())  # a stream may be in the middle of a write

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        """Handle Ctrl-C and the signal that `kill` sends until the block ends."""
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
        alone: whether it is tried for the last time, with nothing else in progress, because it may
            kill workers.
        workers: those to which it was submitted.
    """

    job: J
    tries: int = 0
    alone: bool = False
    workers: frozenset[str] = frozenset()

    @property
    def last(self) -> bool:
        """Whether this try is the last."""
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
        self.graders = self._checked_graders = frozenset[str]()  # there may be thousands
        self.answered: queue.SimpleQueue[Future] = queue.SimpleQueue()

    def run(self, jobs: Iterable[J]) -> None:
        """Run until every job is done or a stop is requested.

        Raises:
            UserError: no worker is left, or nothing can be stored.
        """
        self.waiting = deque(_Task(job) for job in jobs)
        while self.under_way or ((self.waiting or self.suspects) and not self.stop.asked):
            self.crew.refresh()
            self._drop_stranded()
            self.fill()
            with contextlib.suppress(queue.Empty):
                self.take(self.answered.get(timeout=WAIT))
            self.progress.tick(self.crew.slots, len(self.under_way))

    def fill(self) -> None:
        """Give every slot a job; those to be tried alone come last."""
        if self.stop.asked or any(task.alone for task in self.under_way.values()):
            return
        while self.waiting and len(self.under_way) < self.crew.slots and not self.stop.asked:
            self.begin(self.waiting.popleft())
        if self.suspects and self.crew.slots and not self.under_way and not self.stop.asked:
            self.begin(self.suspects.popleft())

    def begin(self, task: _Task[J]) -> None:
        """Submit a job."""
        task.workers = self.workers()
        future = self.crew.submit(task.job)
        self.under_way[future] = task
        future.add_done_callback(self.answered.put)

    def workers(self) -> frozenset[str]:
        """Return the workers that may grade, as the same object while they are the same."""
        if self.crew.graders.keys() != self.graders:
            self.graders = frozenset(self.crew.graders)
        return self.graders

    def _drop_stranded(self) -> None:
        """Cancel jobs whose workers are all gone, because Dask would wait for those to return."""
        graders = self.workers()
        if graders is self._checked_graders:
            return
        self._checked_graders = graders
        for future, task in list(self.under_way.items()):
            if task.workers.isdisjoint(graders) and not future.done():
                future.cancel()

    def take(self, future: "Future") -> None:
        """Store an answer, after giving the slot that it frees another job."""
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
        """Say whether an attempt is the last; if not, queue the job for another try."""
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
            raise UserError("the scheduler is gone; start it, and run the same command again")
        if future.status != "error":
            return LOST
        error = future.exception()
        retries = getattr(error, "allowed_failures", None)  # of Dask's KilledWorker
        if retries is not None:
            task.tries += retries
            return KILLED
        return f"a worker failed: {printable(f'{type(error).__name__}: {error}')[:300]}"
