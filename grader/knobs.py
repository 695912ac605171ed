"""What may be set for a grading, and the command line that sets it: `make`'s knobs."""

import argparse
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.handed_in import ROOT
from grader.intake import SubmissionError
from grader.sandbox import PROCESS, TIERS, Limits

CHECKPOINT, REFERENCES = ROOT / "checkpoint", ROOT / "reference_outputs"


@dataclasses.dataclass(frozen=True)
class Setup:
    """What a submission is graded with, and how."""

    references: Path = REFERENCES
    checkpoint: Path = CHECKPOINT
    data: Path = ROOT / "data"
    threads: int = 1  # of torch, in the worker
    tier: str = PROCESS  # see grader/sandbox.py
    limits: Limits | None = None  # of the submission; None: the usual ones


KNOBS = [field for field in dataclasses.fields(Setup) if field.name != "limits"]
MAX_THREADS = 64


def references_for(checkpoint: Path) -> Path:
    """Say where the references for a checkpoint stand; git keeps those of the shipped one only."""
    if checkpoint.resolve() == CHECKPOINT.resolve():
        return REFERENCES
    return REFERENCES / "private" / checkpoint.resolve().name


def recorded_for(checkpoint: Path) -> Path:
    """Return the folder of references for a checkpoint.

    Raises:
        SubmissionError: there is no such checkpoint, or none were recorded with it.
    """
    folder = references_for(checkpoint)
    if folder == REFERENCES:  # what is missing there will be told of every exercise
        return folder
    if not checkpoint.is_dir():
        raise SubmissionError(f"CHECKPOINT={checkpoint}: there is no such folder")
    if not folder.is_dir():
        mend = f"run `make references CHECKPOINT={checkpoint}`"
        raise SubmissionError(f"{checkpoint}: nothing was recorded with this checkpoint; {mend}")
    return folder


def check_writable(path: Path) -> None:
    """See that a result can be written, before anything is graded for it.

    Raises:
        SubmissionError: it cannot.
    """
    if path.is_dir():
        raise SubmissionError(f"JSON={path}: is a folder; name a file in it")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise SubmissionError(f"JSON={path}: {path.parent} is no folder that can be written to")


def thread_count(text: str) -> int:
    """Read a number of threads.

    Raises:
        SubmissionError: it is none.
    """
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= MAX_THREADS):
        raise SubmissionError(f"THREADS={text}: it is a whole number from 1 to {MAX_THREADS}")
    return int(text)


def tier(text: str) -> str:
    """Read the name of a tier.

    Raises:
        SubmissionError: there is none of that name.
    """
    if text not in TIERS:
        raise SubmissionError(f"TIER={text}: there is no such tier; there are {', '.join(TIERS)}")
    return text


# what knobs are read with; those that are not here name folders
KINDS: Mapping[str, Callable[[str], Any]] = {"threads": thread_count, "tier": tier}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="grade", description="Grade one submission.")
    parser.add_argument("submission", help="a folder, a bert.py or a zip")
    parser.add_argument("--check", action="store_true", help="leave the fine-tune out")
    parser.add_argument("--only", metavar="EXERCISE", help="grade a single exercise")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result here")
    for field in KNOBS:
        kind = KINDS.get(field.name, Path)
        parser.add_argument(f"--{field.name}", type=kind, default=field.default)
    parser.set_defaults(references=None)  # by the checkpoint
    return parser.parse_args(arguments)
