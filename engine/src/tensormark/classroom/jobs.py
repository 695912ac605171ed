"""Does jobs in other processes, and keeps every result before it counts.

On this machine each worker is a pool of one process, so that it is known which job ended it; on a
cluster it is Dask's executor. A job that could not be done is tried again. If its worker died, it
is tried last, with nothing else running, because another job may have been the cause; if that
worker dies as well, being killed is the job's result.
"""

import contextlib
import multiprocessing
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from types import FrameType
from typing import Any

from tensormark.classroom.work import Job, Terms, complete
from tensormark.classroom.worker import UnfitError, do, end_with
from tensormark.sandbox.interface import printable
from tensormark.usage import UserError, option

TRIES = 3
WAIT = 0.5  # seconds to wait for an answer before looking at everything else
CONNECTING = 10.0  # seconds to wait for a scheduler
NO_WORKER = 120.0  # seconds without any worker of a cluster after which a run ends
STOPPING = "\nfinishing what is under way; press Ctrl-C again to stop at once\n"
KILLED = ("KilledWorker", BrokenProcessPool.__name__)  # exceptions for a worker that died
Result = Mapping[str, Any]


class Stopped(Exception):
    """Ctrl-C was pressed, and what was under way is finished and kept."""


class Stop:
    """Whether to stop: the first Ctrl-C lets jobs under way finish, the second aborts them."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.asked:
            os._exit(130)  # workers end with this process, and the store needs no closing
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


class LocalWorkers(Executor):
    """Processes on this machine, each a pool of its own; a process that dies is replaced."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.idle: list[ProcessPoolExecutor] = []
        self.busy: dict[Future[Any], ProcessPoolExecutor] = {}

    def slots(self) -> int:
        """Return how many jobs may run at once."""
        return self.count

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a function called in a process that has nothing to do."""
        pool = self.idle.pop() if self.idle else self._start()
        # workers inherit that Ctrl-C is blocked until they ignore it
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            future = pool.submit(function, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.busy[future] = pool
        return future

    def _start(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(1, context, end_with, (os.getpid(),))

    def done(self, future: Future[Any]) -> None:
        """Take back the process that has answered, unless it died."""
        pool = self.busy.pop(future)
        if isinstance(future.exception(), BrokenProcessPool):
            pool.shutdown(wait=False)
        else:
            self.idle.append(pool)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes."""
        for pool in (*self.idle, *self.busy.values()):
            pool.shutdown(wait, cancel_futures=cancel_futures)


class Cluster(Executor):
    """The workers of a Dask cluster; Dask replaces those that die."""

    def __init__(self, address: str) -> None:
        """Connect to a scheduler.

        Raises:
            UserError: it cannot be reached, or Dask is not installed.
        """
        try:  # here, because importing Dask takes time
            from distributed import Client
        except ModuleNotFoundError as error:
            raise UserError(f"{error}; pip install 'tensormark[class]'") from error
        given = option("scheduler", address)
        try:
            self.client = Client(address, timeout=CONNECTING)
        except (OSError, ValueError) as error:
            reason = printable(str(error))[:200]
            raise UserError(f"{given}: cannot be reached: {reason}") from error
        self.executor = self.client.get_executor(pure=False, retries=0)
        self.last_seen = time.monotonic()

    def slots(self) -> int:
        """Return how many jobs may run at once.

        Raises:
            UserError: the scheduler is gone, or has had no worker for NO_WORKER seconds.
        """
        try:
            threads = int(sum(self.client.nthreads().values()))
        except (OSError, TimeoutError) as error:
            raise UserError("the scheduler has stopped; start it, and run this again") from error
        if threads:
            self.last_seen = time.monotonic()
        elif time.monotonic() - self.last_seen > NO_WORKER:
            raise UserError(f"there has been no worker for {NO_WORKER:g} seconds; start some")
        return threads

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a function called by a worker."""
        future: Future[Any] = self.executor.submit(function, *args, **kwargs)
        return future

    def done(self, future: Future[Any]) -> None:
        """Do nothing: Dask keeps its own workers."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; Dask drops what nobody waits for."""
        self.executor.shutdown(wait)
        self.client.close()


def workers(scheduler: str, count: int) -> LocalWorkers | Cluster:
    """Open the workers of a scheduler, or this machine's; see `Cluster`."""
    return Cluster(scheduler) if scheduler else LocalWorkers(count)


class Run:
    """Jobs that are being done, by their keys."""

    def __init__(
        self,
        terms: Terms,
        opened: LocalWorkers | Cluster,
        keep: Callable[[str, Result], None],
        blame: Callable[[Job], Result],
        done: Callable[[], object],
    ) -> None:
        """Prepare a run.

        Args:
            keep: keeps a result.
            blame: returns the result of a job that kills its workers.
            done: counts a job that is done, or was tried often enough.
        """
        self.terms = terms
        self.opened = opened
        self.keep = keep
        self.blame = blame
        self.done = done
        self.waiting: deque[str] = deque()
        self.alone: deque[str] = deque()  # to be tried last, with nothing else running
        self.running: dict[Future[Any], tuple[str, bool]] = {}
        self.tries: Counter[str] = Counter()
        self.faults: dict[str, str] = {}  # why a job could not be done

    def all(self, jobs: Mapping[str, Job], stop: Stop) -> dict[str, str]:
        """Do jobs until all are done or a stop is asked for; return why some could not be done.

        Raises:
            UserError: no worker can do any.
        """
        self.jobs = jobs
        self.waiting.extend(jobs)
        while self.running or ((self.waiting or self.alone) and not stop.asked):
            if not stop.asked:
                self._begin()
            for future in wait(self.running, WAIT, FIRST_COMPLETED).done:
                self._take(future)
        return self.faults

    def _begin(self) -> None:
        """Give every slot a job."""
        if any(alone for _, alone in self.running.values()):
            return
        free = self.opened.slots() - len(self.running)
        for _ in range(min(free, len(self.waiting))):
            self._submit(self.waiting.popleft(), False)
        if self.alone and not self.running and not self.waiting and free > 0:
            self._submit(self.alone.popleft(), True)
        if not self.running:
            time.sleep(WAIT)  # a cluster has no worker at the moment

    def _submit(self, key: str, alone: bool) -> None:
        self.running[self.opened.submit(do, self.jobs[key], self.terms)] = (key, alone)

    def _take(self, future: Future[Any]) -> None:
        """Keep a result, or have the job tried again."""
        key, alone = self.running.pop(future)
        self.opened.done(future)
        fault = ""
        try:
            result: Result = future.result()
        except UnfitError as error:
            raise UserError(f"a worker cannot grade: {error}") from error
        except (Exception, CancelledError) as error:
            if type(error).__name__ in KILLED and not alone:
                self.alone.append(key)
                return
            if type(error).__name__ in KILLED:
                result = self.blame(self.jobs[key])
            else:
                text = printable(f"{type(error).__name__}: {error}")[:300]
                fault = f"a worker failed: {text}"
        if not fault:
            self.keep(key, result)
        if fault or not (complete(result) or alone):
            self.tries[key] += 1
            if self.tries[key] < TRIES:
                self.waiting.append(key)
                return
            if fault:
                self.faults[key] = fault
        self.done()
