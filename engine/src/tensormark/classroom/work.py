"""What is graded, as data for another process, and the digest of all that decides a result."""

import dataclasses
import functools
import importlib.metadata
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.classroom.hand_in import legible
from tensormark.files import digest, sha256
from tensormark.folder import PACKAGE, STAFF_ONLY
from tensormark.handout import MAIN, PAGES
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import Part, Submission, read_parts
from tensormark.sandbox.interface import printable
from tensormark.sandbox.packages import requirement_names

ENGINE = Path(__file__).resolve().parents[1]
# packages that decide no grade, except two modules of this one
NOT_GRADING = ("authoring", "classroom", "gradescope", "release", "template")
OF_CLASSROOM = ("classroom/work.py", "classroom/worker.py")
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


def canonical(value: Any) -> bytes:
    """Return JSON that is the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True).encode()


@dataclasses.dataclass(frozen=True)
class Work:
    """A submission without its path: two students with the same files have the same work.

    Attributes:
        sources, faults, others, notes: see Submission.
    """

    sources: Mapping[str, str]
    faults: Mapping[str, str] = dataclasses.field(default_factory=dict)
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, parts: Sequence[Part], given: GivenFiles) -> "Work":
        """Read what somebody has handed in.

        Raises:
            SubmissionError: there is nothing to grade. InspectionError: nothing can be read here.
        """
        read = read_parts(parts, given.assignment.editable, given.fixed)
        return cls(read.sources, read.faults, tuple(sorted(read.others)), read.notes)

    def submission(self, name: str) -> Submission:
        """Return the submission, under a name that does not tell whose it is."""
        texts = dict(self.sources), dict(self.faults)
        return Submission(name, *texts, frozenset(self.others), self.notes)


def named(result: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the result of some work as that of a submission, whose name is the end of its path."""
    names = {"submission": legible(os.fspath(path)), "name": printable(legible(path.name))}
    return {**result, **names}


@dataclasses.dataclass(frozen=True)
class Terms:
    """How a class is graded.

    Attributes:
        assignment, references, checkpoint: folders, at the same paths on all machines.
        check: whether tasks are left out.
        code: a digest of the grader and the assignment; recorded: of the references.
        versions: of Python and packages.
    """

    assignment: Path
    references: Path
    checkpoint: Path | None
    tier: str
    check: bool
    budget: float
    training_times: float
    code: str
    recorded: str
    versions: Mapping[str, str]

    @property
    def deciding(self) -> list[Any]:
        """What of it decides a result: not where things are."""
        paths = ("assignment", "references", "checkpoint")
        values = dataclasses.asdict(self)
        return [values[name] for name in sorted(values) if name not in paths]


@dataclasses.dataclass(frozen=True)
class Job:
    """What a worker does: it grades some work or, given a seed, makes questions about it.

    Attributes:
        right: ids of the exercises that passed; seed, number: see viva.draw.questions.
    """

    work: Work
    right: tuple[str, ...] = ()
    seed: str = ""
    number: int = 0

    def key(self, terms: Terms) -> str:
        """Return the digest of everything that decides its result."""
        return digest(canonical([dataclasses.asdict(self), terms.deciding]))


def _deciding_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of tensormark and of an assignment that decide a grade, with names."""
    for path in ENGINE.rglob("*.py"):
        inside = path.relative_to(ENGINE)
        if inside.parts[0] not in NOT_GRADING or inside.as_posix() in OF_CLASSROOM:
            yield f"tensormark {inside.as_posix()}", path
    for path in (path for pattern in FILES for path in folder.glob(pattern)):
        inside = path.relative_to(folder)
        if inside.parts[0] != PACKAGE or inside.parts[1] not in STAFF_ONLY:
            yield f"assignment {inside.as_posix()}", path


@functools.cache
def code(folder: Path) -> str:
    """Return a digest of the files that decide a grade; later changes to them do not show."""
    files = sorted(_deciding_files(folder))
    return digest("".join(f"{name} {sha256(path)}\n" for name, path in files).encode())


def versions(folder: Path) -> dict[str, str]:
    """Return the versions of Python, without its third number, and of packages.

    Args:
        folder: an assignment's; of the packages that it requires, those installed count.
    """
    installed = {"Python": ".".join(platform.python_version_tuple()[:2])}
    requirements = folder / "requirements.txt"
    required = requirement_names(requirements) if requirements.is_file() else []
    for name in dict.fromkeys([*PACKAGES, *required]):
        try:
            installed[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return installed
