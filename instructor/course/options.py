"""The options of `make class`."""

import argparse
import contextlib
import datetime
import os
from collections.abc import Sequence
from pathlib import Path

from grader.files import ROOT
from grader.intake.submission import SubmissionError
from grader.sandbox.interface import TIERS
from grader.settings import CHECKPOINT, HELP, KINDS, Settings, recorded_for, tier, whole_number
from instructor.course.file_names import real

MOST_WORKERS = 1024
STORE = "store.sqlite"  # in the folder of the results


def folder(text: str) -> Path:
    """Parse the folder of the submissions.

    Raises:
        SubmissionError: there is none.
    """
    if not text:
        raise SubmissionError("give the folder with the submissions: make class SUBMISSIONS=dir")
    path = Path(text) if os.path.lexists(text) else Path(os.path.expanduser(text))
    if path.is_file():
        raise SubmissionError(
            f"SUBMISSIONS={text}: is a file, not a folder; unpack it, and name the folder"
        )
    if not path.is_dir():
        raise SubmissionError(f"SUBMISSIONS={text}: there is no such folder")
    return path


def worker_count(text: str) -> int:
    """Parse a number of workers.

    Raises:
        SubmissionError: it is invalid.
    """
    return whole_number("WORKERS", MOST_WORKERS, text)


def moment(text: str) -> datetime.datetime:
    """Parse a date and time, without a zone in that of this machine; or a date, for its end.

    Raises:
        SubmissionError: it is invalid.
    """
    try:
        found = datetime.datetime.fromisoformat(text)
        with contextlib.suppress(ValueError):
            found = datetime.datetime.combine(datetime.date.fromisoformat(text), datetime.time.max)
        return found.astimezone()
    except (ValueError, OverflowError, OSError):
        raise SubmissionError(f"DEADLINE={text}: must be like 2027-03-01T18:00") from None


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    made = argparse.ArgumentParser(prog="class", description="Grade a class.")
    add = made.add_argument
    add("submissions", type=folder, help="the folder with what was handed in")
    add("--check", action="store_true", help="leave the training out")
    isolating = ", ".join(TIERS)
    add("--tier", type=tier, help=f"{isolating}; default: the strictest that there is")
    add("--references", type=Path, help="folder of the recorded answers")
    add("--checkpoint", type=Path, default=CHECKPOINT, help="folder of the frozen weights")
    for name in ("budget", "training_times"):
        option, default = f"--{name.replace('_', '-')}", getattr(Settings, name)
        add(option, type=KINDS[name], default=default, help=HELP[name])
    add("--scheduler", default="", help="a Dask scheduler, such as tcp://host:8786")
    cores = len(os.sched_getaffinity(0))
    workers = "processes on this machine, if there is no scheduler (default: %(default)s)"
    add("--workers", type=worker_count, default=cores, help=workers)
    add("--out", type=Path, default=ROOT / "class", help="folder of the results")
    add("--only", metavar="STUDENT", help="grade this student again, and say what differs")
    add("--force", action="store_true", help="grade again what is graded already")
    add("--roster", type=Path, help="a CSV file with the students")
    add("--deadline", type=moment, help="such as 2027-03-01T18:00")
    add("--late", help="which to take of those who handed in several times")
    add("--canvas", type=Path, help="a gradebook that Canvas has exported")
    add("--column", default="", help="the assignment's column in it")
    return made


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line.

    Raises:
        SubmissionError: an option is invalid.
    """
    options = parser().parse_args(arguments)
    if real(options.out).is_relative_to(real(options.submissions)):
        raise SubmissionError(f"OUT={options.out}: must not be in the folder of the submissions")
    around = [folder for folder in real(options.out).parents if (folder / STORE).exists()]
    if around:
        raise SubmissionError(
            f"OUT={options.out}: is among the results in {around[0]}; name another"
        )
    options.references = options.references or recorded_for(options.checkpoint)
    return options


def settings_of(options: argparse.Namespace) -> Settings:
    """Return the settings of the grading, but for the tier."""
    return Settings(references=options.references, checkpoint=options.checkpoint)
