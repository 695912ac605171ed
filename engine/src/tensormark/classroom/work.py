"""What a worker process does, on this machine or another, and the digest of all that decides it.

It grades one submission after another with the same `Grading`, so that references are read and
torch is imported only once. Covered: a worker with another grader, other references or no such tier
says so instead of grading. Not covered: workers, scheduler and client trust each other.
"""

import contextlib
import dataclasses
import functools
import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
from tensormark.usage import UserError
from tensormark.viva import draw

ENGINE = Path(__file__).resolve().parents[1]
PACKAGES = ("torch", "numpy", "safetensors")  # besides those that submissions may use


def complete(result: Mapping[str, Any] | None) -> bool:
    """Return whether there is a result in which every exercise has a score."""
    return result is not None and ("exercises" not in result or not ungraded(result))


def named(result: Mapping[str, Any], path: Path) -> dict[str, Any]:
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
        deciding = [dataclasses.asdict(self), settings, terms.check, terms.facts]
        return digest(json.dumps(deciding, sort_keys=True, default=sorted).encode())


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


class UnfitError(Exception):
    """This worker cannot grade, whatever it is given; the message is one sentence."""


@functools.lru_cache(maxsize=1)
def _grading(terms: Terms) -> Grading:
    """Return this process's grading.

    Raises:
        UnfitError: it would grade otherwise than the process that asks.
    """
    host = printable(platform.node())
    try:
        here = dict(facts(terms.assignment, terms.settings.references))
    except UserError as error:
        raise UnfitError(f"{host}: {error}") from error
    for name, wanted in terms.facts:
        if here.get(name) != wanted:
            raise UnfitError(f"{host} has {name} {here.get(name)}, not {wanted}")
    assignment = open_assignment(terms.assignment)
    fault = fault_of(assignment, terms.settings.tier, terms.settings)
    if fault:
        raise UnfitError(f"{host} cannot provide the tier {terms.settings.tier}: {fault}")
    return Grading(terms.settings, assignment)


def do(job: Job, terms: Terms) -> dict[str, Any]:
    """Do a job; return the result model, or a sheet, or a note that says why there is none.

    Raises:
        UnfitError: this worker cannot.
    """
    grading = _grading(terms)
    if not job.seed:
        return grading.grade(job.submission, terms.check).as_json()
    try:
        sheet = draw.questions(grading, job.submission, job.right, job.seed, job.number)
    except SubmissionError as error:
        return {"note": printable(str(error))[:300]}
    return {"sheet": dataclasses.asdict(sheet)}
