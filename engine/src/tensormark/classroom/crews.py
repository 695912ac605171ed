"""Who grades a class: Dask's workers (cluster.py), or this process, one hand-in after another."""

import argparse
import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensormark.classroom.failure import ClusterError, RunError
from tensormark.classroom.parcel import Parcel
from tensormark.classroom.work import Job, Terms
from tensormark.classroom.worker import Answer, Station
from tensormark.folder import VARIABLE
from tensormark.usage import option

if TYPE_CHECKING:
    from tensormark.classroom.cluster import Crew

HERE = "here"  # the address


class _LocalFuture:
    """The answer of this process, when there is one, as Dask would give it."""

    def __init__(self, future: "Future[Answer]") -> None:
        self.future = future
        self.cancel, self.done, self.result = future.cancel, future.done, future.result
        self.exception = future.exception

    @property
    def status(self) -> str:
        """Whether it is there, or something was raised."""
        if not self.future.done() or self.future.cancelled():
            return "cancelled" if self.future.cancelled() else "pending"
        return "error" if self.future.exception() else "finished"

    def add_done_callback(self, callback: Callable[[Any], Any]) -> None:
        """Call something with this once it is done."""
        self.future.add_done_callback(lambda _: callback(self))


class OneProcess:
    """This process, in the place of a cluster's workers."""

    def __init__(self, station: Station, pool: ThreadPoolExecutor) -> None:
        self.station, self.pool = station, pool
        self.fit, self.reason, self.alive = {HERE: 1}, "", True

    @property
    def slots(self) -> int:
        """One, or none if it may not grade."""
        return sum(self.fit.values())

    def look(self) -> None:
        """Do nothing: it neither comes nor goes."""

    def check(self) -> None:
        """See that it may grade.

        Raises:
            ClusterError: it may not.
        """
        if not self.fit:
            raise ClusterError(f"nothing can be graded here: {self.reason}")

    def refuse(self, address: str, host: str, reason: str) -> None:
        """Grade nothing more."""
        self.fit, self.reason = {}, reason

    def submit(self, job: Job) -> _LocalFuture:
        """Do a job, in another thread, as this one takes care of signals and progress."""
        return _LocalFuture(self.pool.submit(self.station.do, job))


@contextlib.contextmanager
def _assignment_named(assignment: Path) -> Iterator[None]:
    """Have this process take an assignment for its own, wherever it was started."""
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
    """Unpack what is graded with, and try the tier."""
    with tempfile.TemporaryDirectory(prefix="class-") as folder, ThreadPoolExecutor(1) as pool:
        scratch = Path(folder)
        scratch.chmod(0o755)  # submissions may read the checkpoint in it
        with _assignment_named(assignment):
            station = Station(terms, parcel.digest, parcel.content, scratch, HERE)
        yield OneProcess(station, pool)


@contextlib.contextmanager
def opened_crew(
    options: argparse.Namespace,
    terms: Terms,
    parcel: Parcel,
    assignment: Path,
    say: Callable[[str], None],
) -> Iterator["Crew | OneProcess"]:
    """Open those who grade; with one worker and no scheduler that is this process.

    Raises:
        ClusterError: there is no such scheduler. RunError: Dask is needed, and not installed.
    """
    if options.workers == 1 and not options.scheduler:
        with _this_process(terms, parcel, assignment) as alone:
            yield alone
        return
    try:  # here, because importing Dask takes time
        from tensormark.classroom import cluster
    except ModuleNotFoundError as error:
        more = f"{option('workers', 1)} does without; or pip install 'tensormark[class]'"
        raise RunError(f"{error}; {more}") from error
    with cluster.opened(options.scheduler, options.workers, assignment) as client:
        yield cluster.Crew(client, terms, parcel, not options.scheduler, say)
