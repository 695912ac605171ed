"""The settings of a grading, and the command-line options that set them."""

import argparse
import dataclasses
import functools
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.files import check_replaceable, expanded
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import BUDGET, PROCESS, TIERS, Limits
from tensormark.usage import command, option, parser

MAX_THREADS = 64
# what the results that we write begin with
RESULT = re.compile(rb'\A\{\s*"version": \d+,\s*"assignment": ')


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
        usual = {
            "references": references_for(folder, None),
            "checkpoint": shipped(folder),
            "data": folder / "data",
        }
        return cls(**usual | others)


OPTIONS = [field for field in dataclasses.fields(Settings) if field.name != "limits"]


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


def check_writable(path: Path, name: str, mark: re.Pattern[bytes] | None = None) -> None:
    """Check that a result can be written, before anything is graded.

    Args:
        name: of the option that names the path.
        mark: tells what may be replaced; see `check_replaceable`.

    Raises:
        SubmissionError: it cannot be written. FileExistsError: it would replace something else.
    """
    given = option(name, path)
    folder = path.parent
    if mark is not None:
        check_replaceable(path, mark, given)
    if path.is_dir():
        raise SubmissionError(f"{given}: is a folder; give the name of a file in it")
    if not folder.is_dir():
        raise SubmissionError(f"{given}: {folder} is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SubmissionError(f"{given}: the folder {folder} is not writable")


def submission(text: str) -> str:
    """Parse the path of a submission.

    Raises:
        SubmissionError: it is empty.
    """
    if not text:
        raise SubmissionError(f"{option('submission')} is empty; give a folder or a file")
    return expanded(text)


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
        raise SubmissionError(f"{option(name, text)}: must be a number larger than 0")
    return value


# parsers of options; all other options are folders
KINDS: Mapping[str, Callable[[str], Any]] = {
    "threads": functools.partial(whole_number, "threads", MAX_THREADS),
    "tier": tier,
    "budget": functools.partial(positive, "budget"),
    "training_times": functools.partial(positive, "training-times"),
}
HELP = {
    "references": "folder of the recorded answers (default: those of the checkpoint)",
    "checkpoint": "folder of the frozen weights",
    "data": "folder of the data to train on",
    "threads": "number of torch's threads while the submission runs",
    "tier": f"how the submission is isolated: {', '.join(TIERS)}",
    "budget": "seconds for the whole submission without training; later calls are not run",
    "show_text": "show texts, printed output and expected values even with private references",
    "training_times": "deadline of the training, as a multiple of the time that correct code took",
}


def with_default(text: str, default: object) -> str:
    """Return an option's help, with its default if it has one."""
    complete = default in (None, "") or "(default" in text
    return text if complete else f"{text} (default: %(default)s)"


def submission_parser(folder: Path, name: str, description: str) -> argparse.ArgumentParser:
    """Return the parser for a command that takes a submission."""
    command_line = parser(name, description)
    about = "a folder, a .py file, a zip or a tar (default: starter)"
    usual = os.path.relpath(folder / "starter")
    command_line.add_argument("submission", type=submission, nargs="?", default=usual, help=about)
    return command_line


def parse(folder: Path, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line of a grading.

    Args:
        name: the command: check, grade or report.
    """
    command_line = submission_parser(folder, name, "Grade one submission.")
    add = command_line.add_argument
    add("--only", metavar="EXERCISES", help="grade only these, separated by commas")
    add("--json", type=Path, metavar="FILE", help="write the result here")
    if name == "report":
        page = "the page to write (default: %(default)s)"
        add("--out", type=Path, metavar="FILE", default=Path("report.html"), help=page)
        add("--open", action="store_true", help="open the page in a browser")
    defaults = Settings.of(folder)
    for field in OPTIONS:
        flag = f"--{field.name.replace('_', '-')}"
        text = HELP[field.name]
        if field.name == "tier":
            text += f" (default: {PROCESS}; with private references the strictest available)"
        if field.default is False:
            add(flag, action="store_true", help=text)
            continue
        default = getattr(defaults, field.name)
        kind = KINDS.get(field.name, Path)
        add(flag, type=kind, default=default, help=with_default(text, default))
    command_line.set_defaults(references=None, tier=None)  # depend on the checkpoint, on references
    return command_line.parse_args(arguments)
