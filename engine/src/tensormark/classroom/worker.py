"""What a worker process does, on this machine or another.

It grades one submission after another with the same `Grading`, so that references are read and
torch is imported only once. Covered: a worker with another grader, other references or no such tier
says so instead of grading. Not covered: workers, scheduler and client trust each other.
"""

import ctypes
import dataclasses
import os
import platform
import signal
import sys
from typing import Any

from tensormark.classroom.work import Job, Terms, code, versions
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.submission import SubmissionError
from tensormark.references import References
from tensormark.sandbox.interface import printable
from tensormark.settings import Settings
from tensormark.strictest import fault_of
from tensormark.viva import draw

PR_SET_PDEATHSIG = 1


class UnfitError(Exception):
    """This worker cannot grade, whatever it is given; the message is one sentence."""


def end_with(parent: int) -> None:
    """Have this process end with the one that started it, and leave Ctrl-C to that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


GRADINGS: dict[str, Grading] = {}  # of this process, by their terms; only the last is kept


def _grading(terms: Terms) -> Grading:
    """Return this process's grading.

    Raises:
        UnfitError: it would grade otherwise than the process that asks.
    """
    key = repr(terms)
    if key in GRADINGS:
        return GRADINGS[key]
    host = printable(platform.node())
    here = versions(terms.assignment)
    for name, wanted in terms.versions.items():
        if here.get(name) != wanted:
            raise UnfitError(f"{host} has {name} {here.get(name)}, not {wanted}")
    if not terms.assignment.is_dir() or code(terms.assignment) != terms.code:
        raise UnfitError(f"{host} has another grader in {terms.assignment}; copy it, and restart")
    if References(terms.references).digest != terms.recorded:
        raise UnfitError(f"{host} has other references in {terms.references}; copy them there")
    settings = Settings.of(
        terms.assignment,
        references=terms.references,
        checkpoint=terms.checkpoint,
        tier=terms.tier,
        budget=terms.budget,
        training_times=terms.training_times,
    )
    grading = Grading(settings, open_assignment(terms.assignment))
    fault = fault_of(grading.assignment, terms.tier, settings)
    if fault:
        raise UnfitError(f"{host} cannot provide the tier {terms.tier}: {fault}")
    GRADINGS.clear()
    GRADINGS[key] = grading
    return grading


def do(job: Job, terms: Terms) -> dict[str, Any]:
    """Do a job; return the result model, or a sheet, or a note that says why there is none.

    Raises:
        UnfitError: this worker cannot.
    """
    grading = _grading(terms)
    if not job.seed:
        return grading.grade_read(job.submission, terms.check).as_json()
    try:
        sheet = draw.questions(grading, job.submission, job.right, job.seed, job.number)
    except SubmissionError as error:
        return {"note": printable(str(error))[:300]}
    return {"sheet": dataclasses.asdict(sheet)}
