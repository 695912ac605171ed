"""The options of `tensormark class`."""

import argparse
import datetime
import functools
import os
from collections.abc import Sequence
from pathlib import Path

from tensormark import settings, usage
from tensormark.classroom.students.choice import deadline_of
from tensormark.classroom.students.file_names import real
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import TIERS
from tensormark.usage import command, option

MOST_WORKERS = 1024
MOST_QUESTIONS = 20  # on a sheet, which should fit on a printed page
STORE = "store.sqlite"  # in the folder of the results


def submissions(name: str, text: str) -> Path:
    """Return the folder of the hand-ins.

    Args:
        name: the command's name.

    Raises:
        SubmissionError: it is not a folder.
    """
    if not text:
        example = command(name, submissions="dir")
        raise SubmissionError(f"give the folder with the submissions: {example}")
    path = Path(text) if os.path.lexists(text) else Path(os.path.expanduser(text))
    argument = option("submissions", text)
    if path.is_file():
        raise SubmissionError(f"{argument}: is a file, not a folder; unpack it and name the folder")
    if not path.is_dir():
        raise SubmissionError(f"{argument}: there is no such folder")
    return path


def _moment(text: str) -> datetime.datetime:
    try:
        return deadline_of(text)
    except (ValueError, OverflowError, OSError):
        argument = option("deadline", text)
        raise SubmissionError(f"{argument}: must be like 2027-03-01T18:00") from None


def parser(folder: Path, name: str = "class") -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    command_line = usage.parser(name, "Grade a class.")
    add = command_line.add_argument
    folder_of = functools.partial(submissions, name)
    add("submissions", type=folder_of, help="the folder with the submissions")
    add("--check", action="store_true", help="skip the training")
    tiers = ", ".join(TIERS)
    add("--tier", type=settings.tier, help=f"{tiers}; default: the strictest available")
    add("--references", type=Path, help="folder with the recorded answers")
    shipped = settings.shipped(folder)
    weights = settings.with_default(settings.HELP["checkpoint"], shipped)
    add("--checkpoint", type=Path, default=shipped, help=weights)
    for field in ("budget", "training_times"):
        kind, default = settings.KINDS[field], getattr(settings.Settings, field)
        about = settings.with_default(settings.HELP[field], default)
        add(f"--{field.replace('_', '-')}", type=kind, default=default, help=about)
    add("--scheduler", default="", help="a Dask scheduler, such as tcp://host:8786")
    cores = len(os.sched_getaffinity(0))
    workers = "processes on this machine, without a scheduler (default: %(default)s)"
    worker_count = functools.partial(settings.whole_number, "workers", MOST_WORKERS)
    add("--workers", type=worker_count, default=cores, help=workers)
    results = "folder for the results (default: %(default)s)"
    add("--out", type=Path, default=folder / "class", help=results)
    add("--only", metavar="STUDENT", help="grade this student again, and say what changed")
    add("--force", action="store_true", help="regrade what is already graded")
    add("--roster", type=Path, help="a CSV file with the students")
    add("--deadline", type=_moment, help="such as 2027-03-01T18:00")
    add("--late", help="which hand-in to grade if a student has several")
    add("--adjustments", type=Path, help="a CSV file with point changes and individual deadlines")
    add("--rule", type=Path, help="a TOML file that says what lateness costs")
    add("--written", help="sheets with the marks of written questions, or a folder of such sheets")
    questions = "questions for each student about their own code"
    question_count = functools.partial(settings.whole_number, "viva", MOST_QUESTIONS)
    add("--viva", type=question_count, metavar="NUMBER", help=questions)
    add("--answers", help="the answers to these questions, as exported by a platform")
    add("--canvas", type=Path, help="a gradebook exported from Canvas")
    add("--last", type=Path, help="results of an earlier class, to compare with in teach.html")
    add("--column", default="", help="the assignment's column in the Canvas gradebook")
    return command_line


def parse(folder: Path, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; see `parser`.

    Raises:
        SubmissionError: an option is invalid.
    """
    options = parser(folder, name).parse_args(arguments)
    out = option("out", options.out)
    if real(options.out).is_relative_to(real(options.submissions)):
        raise SubmissionError(f"{out}: must not be inside the folder with the submissions")
    outer = [path for path in real(options.out).parents if (path / STORE).exists()]
    if outer:
        raise SubmissionError(f"{out}: is inside the results in {outer[0]}; name another folder")
    if options.last and real(options.last) == real(options.out):
        raise SubmissionError(f"{option('last', options.last)}: is this class; name an earlier one")
    options.references = options.references or settings.recorded_for(folder, options.checkpoint)
    return options


def settings_of(folder: Path, options: argparse.Namespace) -> settings.Settings:
    """Return the settings for grading in an assignment's folder, except the tier."""
    folders = {"references": options.references, "checkpoint": options.checkpoint}
    return settings.Settings.of(folder, **folders)
