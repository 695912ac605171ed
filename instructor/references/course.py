"""What references are recorded from: an assignment with its solution, variants and files."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from grader.assignment import MINBERT
from grader.assignment.sentiment import ENTRY, HIDDEN
from grader.exercise import Assignment
from grader.files import sha256
from grader.settings import CHECKPOINT, REFERENCES
from instructor.references.hidden import hidden_sentences
from instructor.references.honest import Honest, honest
from instructor.references.variants import COMMON, SEEN, Variant, variants

NOT_MEASURED = "its threshold was not measured for this checkpoint"
SEED = 2026  # of the public references


def nothing(value: Any) -> dict[str, Any]:
    """Add nothing."""
    return {}


@dataclasses.dataclass(frozen=True)
class Course:
    """Everything about an assignment that only staff have.

    Attributes:
        variants: known wrong variants of the solution.
        honest: correct solutions, written differently.
        common: ids of the mistakes that are also recorded in combination with others.
        seen: id of a mistake to how often students were seen to make it; the others, not at all.
        checkpoint_files, data_files: files whose digests the manifest records.
        measured: takes the checkpoint's digests and returns further entries of the manifest.
        hidden: takes a seed and returns files that only private references have, by name.
        hidden_files: all names that `hidden` may return.
    """

    assignment: Assignment
    variants: tuple[Variant, ...]
    honest: tuple[Honest, ...] = ()
    common: frozenset[str] = frozenset()
    seen: Mapping[str, int] = dataclasses.field(default_factory=dict)
    checkpoint_files: tuple[str, ...] = ()
    data_files: tuple[str, ...] = ()
    measured: Callable[[Mapping[str, str]], dict[str, Any]] = nothing
    hidden: Callable[[int], dict[str, str]] = nothing
    hidden_files: tuple[str, ...] = ()

    @property
    def solution(self) -> Path:
        """The folder of the solution."""
        return self.assignment.folder / "solution"

    @property
    def data(self) -> Path:
        """The folder of the data."""
        return self.assignment.folder / "data"

    def sources(self) -> dict[str, str]:
        """Return the solution's modules: name to text."""
        return {path.stem: path.read_text(encoding="utf-8") for path in self.solution.glob("*.py")}


CHECKPOINT_FILES = ("config.json", "model.safetensors", "tokenizer.json", "vocab.txt")


def threshold(checkpoint: Mapping[str, str]) -> dict[str, Any]:
    """Return the measured sentiment threshold, or why there is none for this checkpoint."""
    gate = REFERENCES / "gate.json"
    measured = json.loads(gate.read_text(encoding="utf-8")) if gate.is_file() else None
    shipped = {name: sha256(CHECKPOINT / name) for name in CHECKPOINT_FILES}
    return {ENTRY: measured if checkpoint == shipped else NOT_MEASURED}


def hidden(seed: int) -> dict[str, str]:
    """Return dev sentences with unpublished labels; none with the public seed."""
    text = hidden_sentences(seed) if seed != SEED else None
    return {} if text is None else {HIDDEN: text}


def minbert() -> Course:
    """Return the course of this repository."""
    return Course(
        assignment=MINBERT,
        variants=variants(),
        honest=honest(),
        common=COMMON,
        seen=SEEN,
        checkpoint_files=CHECKPOINT_FILES,
        data_files=("train.txt", "dev.txt", "test.txt"),
        measured=threshold,
        hidden=hidden,
        hidden_files=(HIDDEN,),
    )
