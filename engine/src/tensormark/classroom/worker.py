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

from tensormark.classroom.work import Job, Terms, facts
from tensormark.folder import open_assignment
from tensormark.grading import Grading
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import printable
from tensormark.strictest import fault_of
from tensormark.usage import UserError
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
    try:
        here = facts(terms.assignment, terms.settings.references)
    except UserError as error:
        raise UnfitError(f"{host}: {error}") from error
    for name, wanted in terms.facts.items():
        if here.get(name) != wanted:
            raise UnfitError(f"{host} has {name} {here.get(name)}, not {wanted}")
    grading = Grading(terms.settings, open_assignment(terms.assignment))
    fault = fault_of(grading.assignment, terms.settings.tier, terms.settings)
    if fault:
        raise UnfitError(f"{host} cannot provide the tier {terms.settings.tier}: {fault}")
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
