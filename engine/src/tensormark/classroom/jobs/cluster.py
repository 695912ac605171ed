"""The Dask workers that grade: processes on this machine, or those of an existing scheduler.

Dask starts workers, moves data and tasks, and notices crashes. This module decides which workers
may grade, and how many submissions are in progress at once: one per thread, so that other users'
tasks on a shared scheduler wait for at most one of our submissions.

Covered: a scheduler started here listens on 127.0.0.1 only. Not covered: anyone who can connect to
a scheduler can run code as its user, and every user of the machine can connect to 127.0.0.1;
SECURITY.md says what to do about it.
"""

import contextlib
import logging
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Future, LocalCluster

from tensormark.classroom.jobs.parcel import Parcel
from tensormark.classroom.jobs.version import about, unfit
from tensormark.classroom.jobs.work import Job, Terms
from tensormark.classroom.jobs.worker import Answer, do, importable
from tensormark.folder import VARIABLE
from tensormark.sandbox.interface import printable
from tensormark.usage import UserError, option

REFRESH_EVERY = 1.0  # seconds between updates of the list of workers
PRIORITY = -1  # other tasks have 0 by default, and Dask starts higher priorities first
NO_WORKER = 120.0  # seconds without any worker after which a run ends
PATIENCE = "300s"  # for how long a machine may be unresponsive
CONFIG = {
    "distributed.scheduler.allowed-failures": 0,  # engine.py retries
    "distributed.worker.profile.enabled": False,  # it samples every stack 100 times a second
    "distributed.comm.timeouts.connect": PATIENCE,
    "distributed.comm.timeouts.tcp": PATIENCE,
}


def _local_cluster(workers: int, assignment: Path) -> LocalCluster:
    """Start a scheduler and workers that Ctrl-C does not reach, because the engine handles it."""
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # workers inherit it
    try:
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # of status pages; any free port
            scheduler_kwargs={"dashboard": False},
            memory_limit=None,
            silence_logs=logging.CRITICAL,
            env={VARIABLE: str(assignment)},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def connect(scheduler: str, workers: int, assignment: Path) -> Iterator[Client]:
    """Connect to a scheduler, or start one with single-threaded workers on this machine.

    Raises:
        UserError: the scheduler cannot be reached, or the workers cannot be started.
    """
    with contextlib.ExitStack() as stack, dask.config.set(CONFIG):
        for name in ("distributed", "distributed.nanny", "distributed.scheduler"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        address: Any = scheduler
        if not scheduler:
            try:
                address = stack.enter_context(_local_cluster(workers, assignment))
            except (OSError, RuntimeError) as error:
                reason = printable(f"{error}; {error.__cause__ or ''}")[:300].rstrip("; ")
                given = option("workers", workers)
                raise UserError(f"{given}: cannot be started: {reason}") from error
        try:
            client = stack.enter_context(Client(address, timeout=PATIENCE if not scheduler else 10))
        except (OSError, ValueError) as error:
            reason, given = printable(str(error))[:200], option("scheduler", scheduler)
            raise UserError(f"{given}: cannot be reached: {reason}") from error
        if scheduler:
            _check_scheduler(client, scheduler)
        yield client


def _check_scheduler(client: Client, address: str) -> None:
    """Check that a scheduler can import tensormark, and so read what it passes on."""
    try:
        client.run_on_scheduler(importable)
    except Exception as error:  # importing may raise anything
        fix = "start it and its workers where the same tensormark is installed"
        given = option("scheduler", address)
        raise UserError(f"{given}: cannot read the data sent to it; {fix}") from error


class Crew:
    """The workers of a cluster that may grade."""

    def __init__(
        self,
        client: Client,
        terms: Terms,
        parcel: Parcel,
        own: bool,
        announce: Callable[[str], None],
        task: Callable[[Job, Terms, str, bytes], Answer] = do,
    ) -> None:
        """Start sending the parcel to the workers.

        Args:
            own: whether this run started the workers, so that any of them may take any job.
            announce: prints a line.
            task: what workers do with a job.
        """
        self.client, self.terms, self.parcel, self.own = client, terms, parcel, own
        self.announce, self.task = announce, task
        self.refused: dict[str, str] = {}  # address to reason
        self.graders: dict[str, int] = {}  # address to threads, of workers that may grade
        self.reason = ""  # why the last worker that was lost gave no answer
        self.last_refresh = 0.0
        self._addresses: set[str] = set()  # of all connected workers
        self._last_grader = time.monotonic()  # when there last was a worker that may grade
        self._wait_announced = False
        with warnings.catch_warnings():  # a large checkpoint is sent once
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            self.content = client.submit(bytes, parcel.content, key=f"parcel-{parcel.digest}")

    @property
    def slots(self) -> int:
        """How many submissions may be in progress."""
        return sum(self.graders.values())

    @property
    def alive(self) -> bool:
        """Whether the scheduler is connected."""
        return self.client.status in ("running", "connecting")

    def refresh(self) -> None:
        """Update the list of workers, and ask new ones which grader they have.

        Raises:
            UserError: no worker is left, or the scheduler is gone.
        """
        if time.monotonic() - self.last_refresh < REFRESH_EVERY:
            return
        try:
            threads: dict[str, int] = self.client.nthreads()
            old = self.graders.keys() | self.refused.keys()
            new = [address for address in threads if address not in old]
            answers = self.client.run(about, workers=new, on_error="return") if new else {}
        except (OSError, TimeoutError) as error:
            raise UserError(f"the scheduler is gone: {printable(str(error))[:200]}") from error
        self.graders = {name: count for name, count in threads.items() if name in self.graders}
        for address, answer in answers.items():
            if isinstance(answer, OSError):
                continue  # it has left again
            if isinstance(answer, Exception):
                self.refuse(address, "", f"it has no grader: {printable(str(answer))[:200]}")
            elif reason := unfit(answer, self.terms.code, self.terms.versions):
                self.refuse(address, answer["host"], reason)
            else:
                self.graders[address] = threads[address]
        self._addresses, self.last_refresh = set(threads), time.monotonic()
        self.check()

    def check(self) -> None:
        """Check that a worker may grade, or that one may still come.

        Raises:
            UserError: all are refused, or there has been none for NO_WORKER seconds.
        """
        if self.graders:
            self._last_grader = time.monotonic()
        elif self._addresses and self._addresses <= self.refused.keys():
            reasons = "; ".join(dict.fromkeys(self.refused.values()))
            raise UserError(f"every worker is refused: {reasons}")
        elif time.monotonic() - self._last_grader > NO_WORKER:
            causes = [*self.refused.values(), *filter(None, [self.reason])]
            why = f"; last known cause: {'; '.join(dict.fromkeys(causes))}" if causes else ""
            raise UserError(f"there has been no worker for {NO_WORKER:g} seconds{why}")
        elif not self.own and not self._addresses and not self._wait_announced:
            self._wait_announced = True
            self.announce("the scheduler has no worker; waiting for one")

    def refuse(self, address: str, host: str, reason: str) -> None:
        """Give a worker no more jobs, and announce why."""
        if address not in self.refused:
            name = f"{address} ({printable(host)})" if host else address
            self.announce(f"worker {name} is refused: {reason}")
        self.refused[address] = reason
        self.graders.pop(address, None)

    def submit(self, job: Job) -> Future:
        """Submit a job to the workers that may grade."""
        graders = None if self.own and not self.refused else sorted(self.graders)
        return self.client.submit(
            self.task,
            job,
            self.terms,
            self.parcel.digest,
            self.content,
            workers=graders,
            allow_other_workers=False,
            pure=False,
            priority=PRIORITY,
        )
