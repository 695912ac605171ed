"""What is to be graded, as data to send: the texts of a submission, and the terms for all."""

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tensormark.classroom.entry import legible
from tensormark.files import digest
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import Part, Submission, read_parts
from tensormark.sandbox.interface import printable


def canonical(value: Any) -> str:
    """Return JSON that is the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


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

    @cached_property
    def digest(self) -> str:
        """The sha256 of all of it."""
        return digest(canonical(dataclasses.astuple(self)).encode())

    def submission(self, name: str) -> Submission:
        """Return the submission, under a name that does not tell whose it is."""
        texts = dict(self.sources), dict(self.faults)
        return Submission(name, *texts, frozenset(self.others), self.notes)


@dataclasses.dataclass(frozen=True)
class Ask:
    """Work to make a student's questions about.

    Attributes:
        right: ids of the exercises that passed.
        seed, number: of the questions, see viva.draw.questions.
    """

    work: Work
    right: tuple[str, ...]
    seed: str
    number: int

    @cached_property
    def digest(self) -> str:
        """The sha256 of what decides the questions."""
        parts = [self.work.digest, self.right, self.seed, self.number]
        return digest(canonical(parts).encode())


Job = Work | Ask  # what a worker can do


def read_work(parts: Sequence[Part], given: GivenFiles) -> Work:
    """Read what somebody has handed in.

    Raises:
        SubmissionError: there is nothing to grade. InspectionError: nothing can be read here.
    """
    submission = read_parts(parts, given.assignment.editable, given.fixed)
    return Work(
        submission.sources, submission.faults, tuple(sorted(submission.others)), submission.notes
    )


def named(result: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the result of some work as that of a submission, whose name is the end of its path."""
    names = {"submission": legible(os.fspath(path)), "name": printable(legible(path.name))}
    return {**result, **names}


@dataclasses.dataclass(frozen=True)
class Terms:
    """How a class is graded: the same work need not be graded again by the same terms.

    Attributes:
        code, versions: of the grader, see version.py.
        references, checkpoint: digests.
        mode: check, or grade if tasks are graded too.
        budget, training_times: see Settings.
    """

    code: str
    versions: Mapping[str, str]
    references: str
    checkpoint: str
    tier: str
    mode: str
    budget: float
    training_times: float

    @property
    def grader(self) -> str:
        """A digest of the grader and everything else that decides its results."""
        parts = [self.code, dict(self.versions), self.budget, self.training_times]
        return digest(canonical(parts).encode())
