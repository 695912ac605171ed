"""What is graded, as data for another process, and the digest of all that decides a result."""

import contextlib
import dataclasses
import functools
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tensormark.classroom.entry import legible
from tensormark.files import digest, python_files, sha256
from tensormark.folder import PACKAGE, STAFF_ONLY
from tensormark.handout import MAIN, PAGES
from tensormark.intake.submission import Submission
from tensormark.references import References
from tensormark.sandbox.interface import printable
from tensormark.sandbox.packages import requirement_names
from tensormark.settings import Settings

ENGINE = Path(__file__).resolve().parents[1]
# of an assignment; references and checkpoint have digests of their own
FILES = (
    f"{PACKAGE}/**/*.py",
    "solution/**/*.py",
    "starter/**/*.py",
    MAIN,
    PAGES,
    "requirements.txt",
)
PACKAGES = ("torch", "numpy", "safetensors")  # besides those that submissions may use


def complete(result: Mapping[str, Any] | None) -> bool:
    """Return whether there is a result in which every exercise has a score."""
    exercises = result.get("exercises", ()) if result is not None else [{"score": None}]
    return all(exercise["score"] is not None for exercise in exercises)


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
    facts: Mapping[str, str]

    @property
    def deciding(self) -> list[Any]:
        """What of it decides a result: not where things are."""
        settings = self.settings
        times = [settings.budget, settings.training_times]
        return [settings.tier, *times, self.check, dict(self.facts)]


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
        """Return the digest of everything that decides its result."""
        deciding = [dataclasses.asdict(self), terms.deciding]
        return digest(json.dumps(deciding, sort_keys=True, default=sorted).encode())


def _deciding_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of tensormark and of an assignment that decide a grade, with names."""
    for name, path in python_files(ENGINE).items():
        yield f"tensormark {name}", path
    for path in (path for pattern in FILES for path in folder.glob(pattern)):
        inside = path.relative_to(folder)
        if inside.parts[0] != PACKAGE or inside.parts[1] not in STAFF_ONLY:
            yield f"assignment {inside.as_posix()}", path


@functools.cache
def _code(folder: Path) -> str:
    """Return a digest of the files that decide a grade; later changes to them do not show."""
    files = sorted(_deciding_files(folder))
    return digest("".join(f"{name} {sha256(path)}\n" for name, path in files).encode())


def facts(folder: Path, references: Path) -> dict[str, str]:
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
    return found
