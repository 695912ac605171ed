"""Does jobs in other processes, on this machine or on a Dask cluster.

A job that could not be done is tried again. If its worker died, it is tried last, with nothing else
running, because another job may have been the cause; if that worker dies as well, it is the job's
own fault.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from tensormark.classroom.work import Job, Terms, UnfitError, complete, do
from tensormark.sandbox.interface import printable
from tensormark.usage import UserError, option

TRIES = 3
WAIT = 0.5  # seconds to wait for an answer before looking at everything else
CONNECTING = 10.0  # seconds to wait for a scheduler
NO_WORKER = 120.0  # seconds without any worker of a cluster after which a run ends
DEATHS = ("KilledWorker", BrokenProcessPool.__name__)  # exceptions for a worker that died
KILLS = "the submission kills the process that grades it, even with nothing else running"
PR_SET_PDEATHSIG = 1
Result = Mapping[str, Any]


def end_with(parent: int) -> None:
    """Have this process end with the one that started it, and leave Ctrl-C to that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


class LocalWorkers:
    """Processes on this machine; when one dies, all are replaced."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.pool = self._start()

    def _start(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.count, context, end_with, (os.getpid(),))

    def slots(self) -> int:
        """Return how many jobs may run at once."""
        return self.count

    def submit(self, job: Job, terms: Terms) -> Future[Any]:
        """Have a job done."""
        # workers inherit that Ctrl-C is blocked until they ignore it
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self.pool.submit(do, job, terms)
        except BrokenProcessPool:
            self.pool = self._start()
            return self.pool.submit(do, job, terms)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def close(self) -> None:
        """Wait for what is under way, and end."""
        self.pool.shutdown()


class Cluster:
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

    def submit(self, job: Job, terms: Terms) -> Future[Any]:
        """Have a job done."""
        future: Future[Any] = self.executor.submit(do, job, terms)
        return future

    def close(self) -> None:
        """Leave the cluster; Dask drops what nobody waits for."""
        self.executor.shutdown()
        self.client.close()


Workers = LocalWorkers | Cluster


def workers(scheduler: str, count: int) -> Workers:
    """Open the workers of a scheduler, or this machine's; see `Cluster`."""
    return Cluster(scheduler) if scheduler else LocalWorkers(count)


def _answer(future: Future[Any]) -> tuple[Result | str, bool]:
    """Return a job's result, or why there is none, and whether its worker died.

    Raises:
        UserError: the worker cannot do any job.
    """
    try:
        return future.result(), False
    except UnfitError as error:
        raise UserError(f"a worker cannot grade: {error}") from error
    except (Exception, CancelledError) as error:
        text = printable(f"{type(error).__name__}: {error}")[:300]
        return f"a worker failed: {text}", type(error).__name__ in DEATHS


def answers(
    opened: Workers, jobs: Mapping[str, Job], terms: Terms
) -> Iterator[tuple[str, Result | str]]:
    """Do jobs; yield the key of each with its result, or with why there is none.

    Raises:
        UserError: no worker can do any.
    """
    waiting = deque(jobs)
    alone: deque[str] = deque()  # to be tried last, with nothing else running
    died: set[str] = set()
    running: dict[Future[Any], str] = {}
    tries: Counter[str] = Counter()
    while waiting or alone or running:
        if not waiting and not running:
            waiting.append(alone.popleft())
        free = opened.slots() - len(running)
        for _ in range(min(free, len(waiting))):
            key = waiting.popleft()
            running[opened.submit(jobs[key], terms)] = key
        if not running:
            time.sleep(WAIT)  # a cluster has no worker at the moment
        for future in wait(running, WAIT, FIRST_COMPLETED).done:
            key = running.pop(future)
            answer, has_died = _answer(future)
            tries[key] += 1
            if has_died and key not in died:
                died.add(key)
                alone.append(key)
            elif has_died:
                yield key, KILLS
            elif tries[key] < TRIES and (isinstance(answer, str) or not complete(answer)):
                waiting.append(key)
            else:
                yield key, answer
