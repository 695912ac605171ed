"""The settings of a grading, and the command line that sets them: `make`'s options."""

import argparse
import dataclasses
import functools
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.files import ROOT, check_replaceable
from grader.intake.submission import SubmissionError
from grader.sandbox.interface import BUDGET, PROCESS, TIERS, Limits

CHECKPOINT, REFERENCES = ROOT / "checkpoint", ROOT / "reference_outputs"


@dataclasses.dataclass(frozen=True)
class Settings:
    """How a submission is graded."""

    references: Path = REFERENCES
    checkpoint: Path = CHECKPOINT
    data: Path = ROOT / "data"
    threads: int = 1  # of torch, in the worker
    tier: str = PROCESS  # see grader/sandbox
    budget: float = BUDGET  # seconds for a submission, training apart
    training_times: float = 20.0  # a training's deadline, in multiples of its measured time
    show_text: bool = False  # also show what a submission, or a reference, says of private inputs
    limits: Limits = dataclasses.field(default_factory=Limits)  # of the submission


OPTIONS = [field for field in dataclasses.fields(Settings) if field.name != "limits"]
MAX_THREADS = 64


def references_for(checkpoint: Path) -> Path:
    """Return the folder of references for a checkpoint; git tracks only the shipped one's."""
    if checkpoint.resolve() == CHECKPOINT.resolve():
        return REFERENCES
    return REFERENCES / "private" / checkpoint.resolve().name


def recorded_for(checkpoint: Path) -> Path:
    """Return the folder of references for a checkpoint.

    Raises:
        SubmissionError: there is no such checkpoint, or it has no references.
    """
    folder = references_for(checkpoint)
    if folder == REFERENCES:  # missing files are reported for every exercise
        return folder
    if not checkpoint.is_dir():
        raise SubmissionError(f"CHECKPOINT={checkpoint}: there is no such folder")
    if not folder.is_dir():
        fix = f"run `make references CHECKPOINT={checkpoint}`"
        raise SubmissionError(f"{checkpoint}: there are no references for this checkpoint; {fix}")
    return folder


def check_writable(path: Path, option: str = "JSON", ending: str = ".json") -> None:
    """Check that a result can be written, before anything is graded.

    Args:
        option: which names the path.
        ending: of the names of such files; what is there and called otherwise is not replaced.

    Raises:
        SubmissionError: it cannot. FileExistsError: it would replace something else.
    """
    check_replaceable(path, ending, option)
    if path.is_dir():
        raise SubmissionError(f"{option}={path}: is a folder; give the name of a file in it")
    if not path.parent.is_dir():
        raise SubmissionError(f"{option}={path}: {path.parent} is not a folder")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise SubmissionError(f"{option}={path}: the folder {path.parent} is not writable")


def submission(text: str) -> str:
    """Read the path of a submission; not every shell replaces the ~ of SUBMISSION=~/main.py.

    Raises:
        SubmissionError: it is empty.
    """
    if not text:
        raise SubmissionError("SUBMISSION= is empty; give a folder or a file, or leave it out")
    return text if os.path.lexists(text) else os.path.expanduser(text)


def whole_number(name: str, most: int, text: str) -> int:
    """Parse a number of things, at least one.

    Raises:
        SubmissionError: it is invalid.
    """
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= most):
        raise SubmissionError(f"{name}={text}: must be a whole number, 1 to {most}")
    return int(text)


def tier(text: str) -> str:
    """Parse the name of a tier.

    Raises:
        SubmissionError: there is no such tier.
    """
    if text not in TIERS:
        raise SubmissionError(
            f"TIER={text}: there is no such tier; choose one of {', '.join(TIERS)}"
        )
    return text


def positive(name: str, text: str) -> float:
    """Parse a number that is larger than 0.

    Raises:
        SubmissionError: it is invalid.
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < math.inf:
        raise SubmissionError(f"{name}={text}: must be a number larger than 0")
    return value


# parsers of options; all other options are folders
KINDS: Mapping[str, Callable[[str], Any]] = {
    "threads": functools.partial(whole_number, "THREADS", MAX_THREADS),
    "tier": tier,
    "budget": functools.partial(positive, "BUDGET"),
    "training_times": functools.partial(positive, "TRAINING_TIMES"),
}
HELP = {
    "references": "folder of the recorded answers (default: those of the checkpoint)",
    "checkpoint": "folder of the frozen weights",
    "data": "folder of the data to train on",
    "threads": "of torch, while the submission runs",
    "tier": f"how the submission is isolated: {', '.join(TIERS)}",
    "budget": "seconds for the whole submission, training apart; what is left then is not run",
    "show_text": "with private references too, show texts, printed output and expected values",
    "training_times": "deadline of the training, in multiples of the time that correct code took",
}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="grade", description="Grade one submission.")
    about = "a folder, a .py file, a zip or a tar"
    parser.add_argument("submission", type=submission, help=about)
    parser.add_argument("--check", action="store_true", help="leave the training out")
    parser.add_argument("--only", metavar="EXERCISES", help="grade only these, separated by commas")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result here")
    page = "write a page, and what has changed since the last one"
    parser.add_argument("--report", type=Path, metavar="FILE", help=page)
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    for field in OPTIONS:
        kind, text = KINDS.get(field.name, Path), HELP[field.name]
        option = f"--{field.name.replace('_', '-')}"
        if field.default is False:
            parser.add_argument(option, action="store_true", help=text)
            continue
        shown = text if "(default" in text else f"{text} (default: %(default)s)"
        parser.add_argument(option, type=kind, default=field.default, help=shown)
    parser.set_defaults(references=None)  # depends on the checkpoint
    return parser.parse_args(arguments)
