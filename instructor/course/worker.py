"""What a Dask worker does: it grades a submission in a sandbox, as `make grade` does.

A worker process grades one submission after another with the same `Grading`, so that references
are read and torch is imported once. Covered: a worker with another grader, or that cannot give the
tier, refuses, and says why. Not covered: workers and client trust each other and the scheduler.
"""

import dataclasses
import functools
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from distributed import get_worker

from grader.grading import Grading
from grader.settings import Settings
from grader.strictest import fault_of
from instructor.course.parcel import unpack
from instructor.course.version import about, unfit
from instructor.course.work import Terms, Work

LOCK = threading.Lock()  # some workers have several threads


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a worker says to some work.

    Attributes:
        address: of the worker; host: its machine.
        refused: why it grades nothing at all, or nothing.
        result: the result model, if it does.
        seconds: that it took.
    """

    address: str
    host: str
    refused: str = ""
    result: Mapping[str, Any] | None = None
    seconds: float = 0.0


def grading_of(terms: Terms, folder: Path) -> Grading:
    """Return a grading with the contents of a parcel."""
    settings = Settings(
        references=folder / "references",
        checkpoint=folder / "checkpoint",
        data=folder / "data",
        tier=terms.tier,
        budget=terms.budget,
        training_times=terms.training_times,
    )
    return Grading(settings)


class Station:
    """What a worker keeps from one submission to the next, for the same terms and parcel."""

    def __init__(self, terms: Terms, parcel: str, content: bytes) -> None:
        """Unpack the parcel, and try the tier, unless this worker has another grader."""
        folder = Path(get_worker().local_directory) / f"class-{parcel}-{os.getpid()}"
        self.refused = unfit(about(), terms.code, terms.versions)
        if not self.refused:
            unpack(content, parcel, folder)
            self.grading = grading_of(terms, folder)
            fault = fault_of(terms.tier, self.grading.settings)
            self.refused = f"it has no tier {terms.tier}: {fault}" if fault else ""


STATIONS: dict[tuple[str, str], Station] = {}


def station_of(terms: Terms, parcel: str, content: bytes) -> Station:
    """Return this process's station; the last one is kept."""
    key = repr(terms), parcel
    with LOCK:
        if key not in STATIONS:
            STATIONS.clear()
            STATIONS[key] = Station(terms, parcel, content)
        return STATIONS[key]


def grade(work: Work, terms: Terms, parcel: str, content: bytes) -> Answer:
    """Grade some work, or refuse.

    Args:
        parcel: its digest; content: the parcel.
    """
    station = station_of(terms, parcel, content)
    here = functools.partial(Answer, get_worker().address, about()["host"])
    if station.refused:
        return here(refused=station.refused)
    made = station.grading.grade_read(work.submission, terms.mode == "check")
    return here(result=made.as_json(), seconds=made.seconds)
