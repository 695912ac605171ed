"""Jobs of a class, done in other processes on this machine or on a Dask cluster.

A worker process grades one submission after another with the same `Grading`, so that references are
read and torch is imported only once. Covered: a worker with another grader, other references or no
such tier says so instead of grading. Not covered: workers, scheduler and client trust each other.

A job that could not be done is tried again. If its worker died, it is tried last, with nothing else
running, because another job may have been the cause; if that worker dies as well, it is the job's
own fault.
"""

import contextlib
import ctypes
import dataclasses
import functools
import importlib.metadata
import json
import multiprocessing
import os
import platform
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from tensormark.classroom.entry import legible
from tensormark.files import digest, python_files, sha256
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.submission import Submission, SubmissionError
from tensormark.references import References
from tensormark.release.given_out import deciding
from tensormark.reports.model import ungraded
from tensormark.sandbox.interface import printable
from tensormark.sandbox.packages import requirement_names
from tensormark.settings import Settings
from tensormark.strictest import fault_of
from tensormark.usage import UserError, option
from tensormark.viva import draw

ENGINE = Path(__file__).resolve().parents[1]
PACKAGES = ("torch", "numpy", "safetensors")  # besides those that submissions may use
TRIES = 3
WAIT = 0.5  # seconds to wait for an answer before looking at everything else
CONNECTING = 10.0  # seconds to wait for a scheduler
NO_WORKER = 120.0  # seconds without any worker of a cluster after which a run ends
DEATHS = ("KilledWorker", BrokenProcessPool.__name__)  # exceptions for a worker that died
KILLS = "the submission kills the process that grades it, even with nothing else running"
PR_SET_PDEATHSIG = 1
Result = dict[str, Any]  # the result model, a sheet, or a note that says why there is none


# --- what a job is, and how a worker does it --------------------------------------------------


def complete(result: Result | None) -> bool:
    """Return whether there is a result in which every exercise has a score."""
    return result is not None and ("exercises" not in result or not ungraded(result))


def named(result: Result, path: Path) -> Result:
    """Return a job's result as that of the submission at a path, whose end is its name."""
    names = {"submission": legible(os.fspath(path)), "name": printable(legible(path.name))}
    return {**result, **names}


@dataclasses.dataclass(frozen=True)
class Terms:
    """How a class is graded.

    Attributes:
        assignment: its folder; like those in the settings, at the same path on all machines.
        check: whether tasks are left out.
        facts: see `facts`.
    """

    assignment: Path
    settings: Settings
    check: bool
    facts: tuple[tuple[str, str], ...]


@dataclasses.dataclass(frozen=True)
class Job:
    """What a worker does: it grades a submission or, given a seed, makes questions about it.

    Attributes:
        submission: without its path and stamps, so that two students with equal files have one job.
        right: ids of the exercises that passed; seed, number: see viva.draw.questions.
    """

    submission: Submission
    right: tuple[str, ...] = ()
    seed: str = ""
    number: int = 0

    def key(self, terms: Terms) -> str:
        """Return the digest of everything that decides its result: not where things are."""
        own = terms.settings
        settings = [own.tier, own.budget, own.training_times]
        parts = [dataclasses.asdict(self), settings, terms.check, terms.facts]
        return digest(json.dumps(parts, sort_keys=True, default=sorted).encode())


@functools.cache
def _code(folder: Path) -> str:
    """Return a digest of the files that decide a grade; later changes to them do not show."""
    files = {f"tensormark {name}": path for name, path in python_files(ENGINE).items()}
    for path in deciding(folder):
        files[f"assignment {path.relative_to(folder).as_posix()}"] = path
    lines = [f"{name} {sha256(path)}\n" for name, path in sorted(files.items())]
    return digest("".join(lines).encode())


def facts(folder: Path, references: Path) -> tuple[tuple[str, str], ...]:
    """Return what decides a result on this machine, besides settings: digests and versions.

    Args:
        folder: an assignment's; of the packages that it requires, those installed count.

    Raises:
        ReferencesError: there are no usable references.
    """
    found = {
        "grader": _code(folder),
        "references": References(references).digest,
        "Python": ".".join(platform.python_version_tuple()[:2]),
    }
    requirements = folder / "requirements.txt"
    required = requirement_names(requirements) if requirements.is_file() else []
    for name in dict.fromkeys([*PACKAGES, *required]):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return tuple(found.items())


class UnfitWorkerError(Exception):
    """This worker cannot grade, whatever it is given; the message is one sentence."""


@functools.lru_cache(maxsize=1)
def _grading(terms: Terms) -> Grading:
    """Return this process's grading.

    Raises:
        UnfitWorkerError: it would grade otherwise than the process that asks.
    """
    host = printable(platform.node())
    try:
        here = dict(facts(terms.assignment, terms.settings.references))
    except UserError as error:
        raise UnfitWorkerError(f"{host}: {error}") from error
    for name, wanted in terms.facts:
        if here.get(name) != wanted:
            raise UnfitWorkerError(f"{host} has {name} {here.get(name)}, not {wanted}")
    assignment = open_assignment(terms.assignment)
    fault = fault_of(assignment, terms.settings.tier, terms.settings)
    if fault:
        raise UnfitWorkerError(f"{host} cannot provide the tier {terms.settings.tier}: {fault}")
    return Grading(terms.settings, assignment)


def do(job: Job, terms: Terms) -> Result:
    """Do a job; return the result model, or a sheet, or a note that says why there is none.

    Raises:
        UnfitWorkerError: this worker cannot.
    """
    grading = _grading(terms)
    if not job.seed:
        return grading.grade(job.submission, terms.check).as_json()
    try:
        sheet = draw.questions(grading, job.submission, job.right, job.seed, job.number)
    except SubmissionError as error:
        return {"note": printable(str(error))[:300]}
    return {"sheet": dataclasses.asdict(sheet)}


# --- who does it ------------------------------------------------------------------------------


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
            UserError: it cannot be reached.
        """
        from distributed import Client  # here, because importing Dask takes time

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
        except OSError as error:
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


class JobFailed(NamedTuple):
    """Why a job has no result."""

    reason: str


DIED = JobFailed(KILLS)


def _answer(future: Future[Any]) -> Result | JobFailed:
    """Return a job's result, or why there is none.

    Raises:
        UserError: the worker cannot do any job.
    """
    try:
        result: Result = future.result()
        return result
    except UnfitWorkerError as error:
        raise UserError(f"a worker cannot grade: {error}") from error
    except Exception as error:
        if type(error).__name__ in DEATHS:
            return DIED
        text = printable(f"{type(error).__name__}: {error}")[:300]
        return JobFailed(f"a worker failed: {text}")


def answers(
    opened: Workers, jobs: Mapping[str, Job], terms: Terms
) -> Iterator[tuple[str, Result | JobFailed]]:
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
            answer = _answer(future)
            tries[key] += 1
            done = answer == DIED or (not isinstance(answer, JobFailed) and complete(answer))
            if answer == DIED and key not in died:
                died.add(key)
                alone.append(key)
            elif not done and tries[key] < TRIES:
                waiting.append(key)
            else:
                yield key, answer
