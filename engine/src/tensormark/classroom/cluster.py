"""The Dask workers that grade: processes on this machine, or those of an existing scheduler.

Dask starts workers, moves data and tasks, and notices what has died. What is decided here: which
workers may grade at all, and how many submissions are under way at the same time: one a thread. So
what others ask of a shared scheduler never stands behind a class, but behind one of it at most.

Covered: the scheduler that this starts listens on 127.0.0.1 only. Not covered: who can connect to a
scheduler can run code as its user, and on 127.0.0.1 these are all users of the machine; SECURITY.md
says what to do about it.
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

from tensormark.classroom.failure import ClusterError
from tensormark.classroom.parcel import Parcel
from tensormark.classroom.version import about, unfit
from tensormark.classroom.work import Job, Terms
from tensormark.classroom.worker import Answer, do, importable
from tensormark.folder import VARIABLE
from tensormark.sandbox.interface import printable
from tensormark.usage import option

LOOK_EVERY = 1.0  # seconds between looks for workers that have come or gone
PRIORITY = -1  # others' tasks have 0 unless they say so, and Dask begins higher ones first
NO_WORKER = 120.0  # seconds without any worker after which a run ends
PATIENCE = "300s"  # a machine may stand still for that long
CONFIG = {
    "distributed.scheduler.allowed-failures": 0,  # engine.py counts them
    "distributed.worker.profile.enabled": False,  # it looks at every stack 100 times a second
    "distributed.comm.timeouts.connect": PATIENCE,
    "distributed.comm.timeouts.tcp": PATIENCE,
}


def _local_cluster(workers: int, assignment: Path) -> LocalCluster:
    """Start a scheduler and workers that Ctrl-C does not reach, as the engine handles it."""
    resource_tracker.ensure_running()  # as starting it later would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which they inherit
    try:
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # of pages that say how it is; any port will do
            scheduler_kwargs={"dashboard": False},
            memory_limit=None,
            silence_logs=logging.CRITICAL,
            env={VARIABLE: str(assignment)},
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def opened(scheduler: str, workers: int, assignment: Path) -> Iterator[Client]:
    """Connect to a scheduler, or start one with workers of one thread on this machine.

    Raises:
        ClusterError: there is no such scheduler.
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
                raise ClusterError(f"{given}: cannot be started: {reason}") from error
        try:
            client = stack.enter_context(Client(address, timeout=PATIENCE if not scheduler else 10))
        except (OSError, ValueError) as error:
            reason, given = printable(str(error))[:200], option("scheduler", scheduler)
            raise ClusterError(f"{given}: cannot be reached: {reason}") from error
        if scheduler:
            _check_scheduler(client, scheduler)
        yield client


def _check_scheduler(client: Client, address: str) -> None:
    """See that a scheduler can read what it passes on."""
    try:
        client.run_on_scheduler(importable)
    except Exception as error:  # whatever importing raises
        fix = "start it, like its workers, where the same tensormark is installed"
        given = option("scheduler", address)
        raise ClusterError(f"{given}: cannot read what it is sent; {fix}") from error


class Crew:
    """The workers of a cluster that may grade."""

    def __init__(
        self,
        client: Client,
        terms: Terms,
        parcel: Parcel,
        own: bool,
        say: Callable[[str], None],
        task: Callable[[Job, Terms, str, bytes], Answer] = do,
    ) -> None:
        """Send the parcel on its way.

        Args:
            own: the workers are of this program, and need not be told apart.
            say: prints a line.
            task: what workers do with a job.
        """
        self.client, self.terms, self.parcel, self.own, self.say = client, terms, parcel, own, say
        self.task = task
        self.refused: dict[str, str] = {}  # address to reason
        self.fit: dict[str, int] = {}  # address to threads
        self.there: set[str] = set()  # all of them
        self.waited = False
        self.reason = ""  # why the last worker that was lost gave no answer
        self.looked, self.seen = 0.0, time.monotonic()
        with warnings.catch_warnings():  # a large checkpoint is sent once
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            self.content = client.submit(bytes, parcel.content, key=f"parcel-{parcel.digest}")

    @property
    def slots(self) -> int:
        """How many submissions may be under way."""
        return sum(self.fit.values())

    @property
    def alive(self) -> bool:
        """Whether the scheduler is there."""
        return self.client.status in ("running", "connecting")

    def look(self) -> None:
        """Notice workers that have come or gone; those that have come tell about themselves.

        Raises:
            ClusterError: none is left, or the scheduler is gone.
        """
        if time.monotonic() - self.looked < LOOK_EVERY:
            return
        try:
            threads: dict[str, int] = self.client.nthreads()
            known = self.fit.keys() | self.refused.keys()
            new = [address for address in threads if address not in known]
            answers = self.client.run(about, workers=new, on_error="return") if new else {}
        except (OSError, TimeoutError) as error:
            raise ClusterError(f"the scheduler is gone: {printable(str(error))[:200]}") from error
        self.fit = {address: count for address, count in threads.items() if address in self.fit}
        for address, answer in answers.items():
            if isinstance(answer, OSError):
                continue  # it has gone again
            if isinstance(answer, Exception):
                self.refuse(address, "", f"it has no grader: {printable(str(answer))[:200]}")
            elif reason := unfit(answer, self.terms.code, self.terms.versions):
                self.refuse(address, answer["host"], reason)
            else:
                self.fit[address] = threads[address]
        self.there, self.looked = set(threads), time.monotonic()
        self.check()

    def check(self) -> None:
        """See that somebody is left.

        Raises:
            ClusterError: nobody is.
        """
        if self.fit:
            self.seen = time.monotonic()
        elif self.there and self.there <= self.refused.keys():
            reasons = "; ".join(dict.fromkeys(self.refused.values()))
            raise ClusterError(f"no worker may grade: {reasons}")
        elif time.monotonic() - self.seen > NO_WORKER:
            causes = [*self.refused.values(), *filter(None, [self.reason])]
            why = f"; the last that is known: {'; '.join(dict.fromkeys(causes))}" if causes else ""
            raise ClusterError(f"there has been no worker for {NO_WORKER:g} seconds{why}")
        elif not self.own and not self.there and not self.waited:
            self.waited = True
            self.say("the scheduler has no worker; waiting for one")

    def refuse(self, address: str, host: str, reason: str) -> None:
        """Give a worker no more work."""
        if address not in self.refused:
            name = f"{address} ({printable(host)})" if host else address
            self.say(f"worker {name} is refused: {reason}")
        self.refused[address] = reason
        self.fit.pop(address, None)

    def submit(self, job: Job) -> Future:
        """Have a job done by one of the workers."""
        chosen = None if self.own and not self.refused else sorted(self.fit)
        return self.client.submit(
            self.task,
            job,
            self.terms,
            self.parcel.digest,
            self.content,
            workers=chosen,
            allow_other_workers=False,
            pure=False,
            priority=PRIORITY,
        )
