"""What grades a class: Dask's workers (cluster.py), or this process, one hand-in after another."""

import argparse
import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensormark.classroom.jobs.parcel import Parcel
from tensormark.classroom.jobs.work import Job, Terms
from tensormark.classroom.jobs.worker import Answer, Station
from tensormark.folder import VARIABLE
from tensormark.usage import UserError, option

if TYPE_CHECKING:
    from tensormark.classroom.jobs.cluster import Crew

HERE = "here"  # the address of this process as a worker


class _LocalFuture:
    """A future answer of this process, with the interface of Dask's futures."""

    def __init__(self, future: "Future[Answer]") -> None:
        self.future = future
        self.cancel, self.done, self.result = future.cancel, future.done, future.result
        self.exception = future.exception

    @property
    def status(self) -> str:
        """The state in Dask's words: pending, finished, error or cancelled."""
        if not self.future.done() or self.future.cancelled():
            return "cancelled" if self.future.cancelled() else "pending"
        return "error" if self.future.exception() else "finished"

    def add_done_callback(self, callback: Callable[[Any], Any]) -> None:
        """Call `callback` with this future once it is done."""
        self.future.add_done_callback(lambda _: callback(self))


class OneProcess:
    """This process in place of a cluster's workers."""

    def __init__(self, station: Station, pool: ThreadPoolExecutor) -> None:
        self.station, self.pool = station, pool
        self.graders, self.reason, self.alive = {HERE: 1}, "", True

    @property
    def slots(self) -> int:
        """One, or none if it may not grade."""
        return sum(self.graders.values())

    def refresh(self) -> None:
        """Do nothing: this process neither joins nor leaves."""

    def check(self) -> None:
        """Check that this process may grade.

        Raises:
            UserError: it may not.
        """
        if not self.graders:
            raise UserError(f"nothing can be graded here: {self.reason}")

    def refuse(self, address: str, host: str, reason: str) -> None:
        """Grade nothing more."""
        self.graders, self.reason = {}, reason

    def submit(self, job: Job) -> _LocalFuture:
        """Do a job in another thread, because this one handles signals and progress."""
        return _LocalFuture(self.pool.submit(self.station.do, job))


@contextlib.contextmanager
def _assignment_named(assignment: Path) -> Iterator[None]:
    """Make an assignment that of this process, wherever it was started."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(assignment)
    try:
        yield
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before


@contextlib.contextmanager
def _this_process(terms: Terms, parcel: Parcel, assignment: Path) -> Iterator[OneProcess]:
    """Unpack the parcel, and try the tier."""
    with tempfile.TemporaryDirectory(prefix="class-") as folder, ThreadPoolExecutor(1) as pool:
        scratch = Path(folder)
        scratch.chmod(0o755)  # submissions may read the checkpoint in it
        with _assignment_named(assignment):
            station = Station(terms, parcel.digest, parcel.content, scratch, HERE)
        yield OneProcess(station, pool)


@contextlib.contextmanager
def open_crew(
    options: argparse.Namespace,
    terms: Terms,
    parcel: Parcel,
    assignment: Path,
    announce: Callable[[str], None],
) -> Iterator["Crew | OneProcess"]:
    """Start or connect to the workers; with one worker and no scheduler, use this process.

    Raises:
        UserError: the workers cannot be reached or started, or need Dask, which is not installed.
    """
    if options.workers == 1 and not options.scheduler:
        with _this_process(terms, parcel, assignment) as process:
            yield process
        return
    try:  # here, because importing Dask takes time
        from tensormark.classroom.jobs import cluster
    except ModuleNotFoundError as error:
        fix = f"use {option('workers', 1)}, which needs no Dask, or pip install 'tensormark[class]'"
        raise UserError(f"{error}; {fix}") from error
    with cluster.connect(options.scheduler, options.workers, assignment) as client:
        yield cluster.Crew(client, terms, parcel, not options.scheduler, announce)
