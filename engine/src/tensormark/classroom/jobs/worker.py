"""What a worker does: it grades a submission in a sandbox, or makes questions about one.

A worker process does this for one submission after another with the same `Grading`, so that
references are read and torch is imported only once. Its assignment is the one that it was started
in, or that TENSORMARK_ASSIGNMENT names. Covered: a worker with a different grader or assignment, or
without the tier, refuses and says why. Not covered: workers, client and scheduler trust each other.
"""

import dataclasses
import functools
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensormark.classroom.jobs.parcel import unpack
from tensormark.classroom.jobs.version import about, unfit
from tensormark.classroom.jobs.work import Ask, Job, Terms, Work
from tensormark.exercise import Assignment
from tensormark.folder import AssignmentError, here, open_assignment
from tensormark.grading import Grading
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import printable
from tensormark.settings import Settings
from tensormark.strictest import fault_of
from tensormark.viva import draw

LOCK = threading.Lock()  # some workers have several threads


@dataclasses.dataclass(frozen=True)
class Answer:
    """A worker's answer to a job.

    Attributes:
        address: of the worker; host: its machine.
        refused: why it does no jobs at all; "" if it does.
        result: the result model, if it does; for questions, see `asked`.
        seconds: how long the job took.
    """

    address: str
    host: str
    refused: str = ""
    result: Mapping[str, Any] | None = None
    seconds: float = 0.0


def importable() -> None:
    """Do nothing: a process that can call this can read what is sent to workers."""


def _grading(terms: Terms, folder: Path, assignment: Assignment) -> Grading:
    checkpoint = folder / "checkpoint"
    settings = Settings(
        references=folder / "references",
        checkpoint=checkpoint if checkpoint.is_dir() else None,
        data=folder / "data",
        tier=terms.tier,
        budget=terms.budget,
        training_times=terms.training_times,
    )
    return Grading(settings, assignment)


def asked(job: Ask, grading: Grading) -> dict[str, Any]:
    """Return a sheet as JSON, or a note that says why there is none."""
    submission = job.work.submission(grading.assignment.main_file)
    try:
        sheet = draw.questions(grading, submission, job.right, job.seed, job.number)
    except SubmissionError as error:
        return {"note": printable(str(error))[:300]}
    return {"sheet": dataclasses.asdict(sheet)}


class Station:
    """What a worker keeps from one submission to the next, for the same terms and parcel."""

    def __init__(
        self, terms: Terms, parcel: str, content: bytes, scratch: Path, address: str
    ) -> None:
        """Unpack the parcel, and try the tier, unless this worker has a different grader."""
        self.mode = terms.mode
        self.answer = functools.partial(Answer, address, about()["host"])
        folder = scratch / f"class-{parcel}-{os.getpid()}"
        self.refused = unfit(about(), terms.code, terms.versions)
        if self.refused:
            return
        try:
            assignment = open_assignment(here())
        except AssignmentError as error:
            self.refused = f"it cannot open the assignment: {printable(str(error))}"
        else:
            unpack(content, parcel, folder)
            self.grading = _grading(terms, folder, assignment)
            fault = fault_of(self.grading.assignment, terms.tier, self.grading.settings)
            self.refused = f"it cannot provide the tier {terms.tier}: {fault}" if fault else ""

    def do(self, job: Job) -> Answer:
        """Grade some work or have questions made on it, or refuse."""
        if self.refused:
            return self.answer(refused=self.refused)
        if isinstance(job, Work):
            return self._grade(job)
        began = time.monotonic()
        result = asked(job, self.grading)
        return self.answer(result=result, seconds=time.monotonic() - began)

    def _grade(self, work: Work) -> Answer:
        submission = work.submission(self.grading.assignment.main_file)
        grade = self.grading.grade_read(submission, self.mode == "check")
        return self.answer(result=grade.as_json(), seconds=grade.seconds)


STATIONS: dict[tuple[str, str], Station] = {}


def _station(terms: Terms, parcel: str, content: bytes) -> Station:
    """Return this process's station; only the last one is kept."""
    key = repr(terms), parcel
    with LOCK:
        if key not in STATIONS:
            from distributed import get_worker  # not installed where one process grades

            STATIONS.clear()
            scratch, address = Path(get_worker().local_directory), get_worker().address
            STATIONS[key] = Station(terms, parcel, content, scratch, address)
        return STATIONS[key]


def do(job: Job, terms: Terms, parcel: str, content: bytes) -> Answer:
    """Do a job, or refuse."""
    return _station(terms, parcel, content).do(job)
