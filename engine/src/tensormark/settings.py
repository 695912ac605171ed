"""The settings of a grading, and the command-line options that several commands share."""

import argparse
import dataclasses
import os
from pathlib import Path
from typing import Any

from tensormark.files import expanded
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import BUDGET, Limits
from tensormark.sandbox.tiers import PROCESS, TIERS
from tensormark.usage import command, near, option, parser

TIER = f"how the submission is isolated: {', '.join(TIERS)}"  # help of an option


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a submission is graded."""

    references: Path
    checkpoint: Path | None
    data: Path
    threads: int = 1  # of torch, in the worker
    tier: str = PROCESS  # see tensormark/sandbox
    budget: float = BUDGET  # seconds for a submission, without training
    training_times: float = 20.0  # a training's deadline, in multiples of its measured time
    show_text: bool = False  # also show texts and expected values that may reveal private inputs
    limits: Limits = dataclasses.field(default_factory=Limits)  # of the submission

    @classmethod
    def of(cls, folder: Path, **others: Any) -> "Settings":
        """Return the default settings for an assignment's folder, with some replaced."""
        usual: dict[str, Any] = {
            "references": references_for(folder, None),
            "checkpoint": shipped(folder),
            "data": folder / "data",
        }
        return cls(**(usual | others))

    def shows_values(self, private: bool) -> bool:
        """Return whether texts and expected values are shown: they may reveal private inputs."""
        return self.show_text or not private


def shipped(folder: Path) -> Path | None:
    """Return the folder of an assignment's checkpoint, if it has one."""
    checkpoint = folder / "checkpoint"
    return checkpoint if checkpoint.is_dir() else None


def references_for(folder: Path, checkpoint: Path | None) -> Path:
    """Return the folder of references for a checkpoint; git tracks only the shipped one's."""
    public = folder / "reference_outputs"
    own = shipped(folder)
    if checkpoint is None or (own is not None and checkpoint.resolve() == own.resolve()):
        return public
    return public / "private" / checkpoint.resolve().name


def recorded_for(folder: Path, checkpoint: Path | None) -> Path:
    """Return the folder of references for a checkpoint.

    Raises:
        SubmissionError: there is no such checkpoint, or it has no references.
    """
    recorded = references_for(folder, checkpoint)
    if recorded == references_for(folder, None):  # missing files are reported for every exercise
        return recorded
    if checkpoint is None or not checkpoint.is_dir():
        raise SubmissionError(f"{option('checkpoint', checkpoint)}: there is no such folder")
    if not recorded.is_dir():
        fix = f"run `{command('references', checkpoint=checkpoint)}`"
        raise SubmissionError(f"{checkpoint}: there are no references for this checkpoint; {fix}")
    return recorded


def submission(text: str) -> str:
    """Parse the path of a submission.

    Raises:
        SubmissionError: it is empty.
    """
    if not text:
        raise SubmissionError(f"{option('submission')} is empty; give a folder or a file")
    return near(expanded(text))


def whole_number(name: str, maximum: int, text: str) -> int:
    """Parse a whole number from 1 to a maximum.

    Raises:
        SubmissionError: it is invalid.
    """
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= maximum):
        raise SubmissionError(f"{option(name, text)}: must be an integer, 1 to {maximum}")
    return int(text)


def tier(text: str) -> str:
    """Parse the name of a tier.

    Raises:
        SubmissionError: there is no such tier.
    """
    if text not in TIERS:
        raise SubmissionError(
            f"{option('tier', text)}: there is no such tier; choose one of {', '.join(TIERS)}"
        )
    return text


def submission_parser(folder: Path, name: str, description: str) -> argparse.ArgumentParser:
    """Return the parser for a command that takes a submission."""
    command_line = parser(name, description)
    about = "a folder, a .py file, a zip or a tar (default: starter)"
    usual = os.path.relpath(folder / "starter")
    command_line.add_argument("submission", type=submission, nargs="?", default=usual, help=about)
    return command_line
