"""Grade one submission: `tensormark check`, `tensormark grade` and `tensormark report`.

Exit status: 0 if the submission was graded, whatever its score; 2 if there is nothing to grade or
an option is invalid; 3 if an exercise could not be graded; 130 if it was interrupted.
"""

import argparse
import contextlib
import dataclasses
import functools
import json
import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensormark.files import PAGE, check_replaceable, write_whole
from tensormark.folder import open_assignment
from tensormark.intake.process import READER
from tensormark.reports.text import escape_unencodable_output
from tensormark.sandbox.server import SERVERS
from tensormark.sandbox.tiers import PROCESS
from tensormark.settings import (
    TIER,
    Settings,
    recorded_for,
    shipped,
    submission_parser,
    tier,
    whole_number,
)
from tensormark.usage import option

if TYPE_CHECKING:
    from tensormark.grading import Grading

MAX_THREADS = 64
# how the results that we write begin
RESULT = re.compile(rb'\A\{\s*"version": \d+,\s*"assignment": ')


def versions() -> dict[str, str]:
    """Return the versions of Python, torch and numpy."""
    from importlib.metadata import PackageNotFoundError, version  # here, as it takes time

    numbers = {"Python": platform.python_version()}
    for name in ("torch", "numpy"):
        with contextlib.suppress(PackageNotFoundError):
            numbers[name] = version(name)
    return numbers


def write_report(folder: Path, result: dict[str, Any], path: Path, show: bool) -> None:
    """Write the page of a result, print where it is, and perhaps open it."""
    # here, because only this command needs them
    from tensormark.reports import html, pages

    forms = [form for form in html.FORMS if (folder / f"handout{form}").is_file()]
    root = Path(os.path.relpath(folder, path.resolve().parent)).as_posix()
    handout = html.HandoutLinks("" if root == "." else f"{root}/", forms)
    write_whole(path, html.page(result, handout))
    opened = show and pages.show(path)
    how = ", opened in your browser" if opened else "; open it in a browser"
    print(f"\n  report: {path}{how}")


def usual_tier(grading: "Grading") -> str:
    """Return the tier if none was named: with private references, other people's code is graded.

    Raises:
        SubmissionError: the references are private, and no tier on this machine isolates.
    """
    if not grading.private:
        return PROCESS
    from tensormark.strictest import strictest_isolating  # here, because few gradings need it

    return strictest_isolating(grading.assignment, grading.settings, option("tier", PROCESS))


def grade(folder: Path, name: str, options: argparse.Namespace) -> int:
    """Grade what the command line names; return the exit status."""
    # here, because a worker should start before numpy is imported
    from tensormark.grading import Grading
    from tensormark.reports.terminal import Report

    settings = Settings.of(
        folder,
        references=options.references,
        checkpoint=options.checkpoint,
        threads=options.threads,
        tier=options.tier or PROCESS,
        show_text=options.show_text,
    )
    grading = Grading(settings, open_assignment(folder))
    if options.tier is None:  # and the references say whether they are private
        grading.settings = dataclasses.replace(settings, tier=usual_tier(grading))
    submission = grading.read(options.submission)
    graded = grading.grade(submission, name == "check", options.only, Report())
    if not grading.shows_values:
        fix = f"{option('show-text', True)} shows what is left out"
        print(f"\n  {fix}; for staff, not for students")
    graded.versions = versions() if options.json or name == "report" else {}
    if options.json:
        write_whole(options.json, json.dumps(graded.as_json(), indent=2) + "\n")
    if name == "report":
        write_report(folder, graded.as_json(), options.out, options.open)
    return 0 if all(result.score is not None for result in graded.results) else 3


def command_line(folder: Path, name: str) -> argparse.ArgumentParser:
    """Return the parser for the options of a command."""
    parser = submission_parser(folder, name, "Grade one submission.")
    add = parser.add_argument
    add("--only", metavar="EXERCISES", help="grade only these, separated by commas")
    add("--json", type=Path, metavar="FILE", help="write the result here")
    add(
        "--references",
        type=Path,
        help="folder of the recorded answers (default: those of the checkpoint)",
    )
    add(
        "--checkpoint",
        type=Path,
        default=shipped(folder),
        help="folder of the frozen weights (default: %(default)s)",
    )
    add(
        "--tier",
        type=tier,
        help=f"{TIER} (default: {PROCESS}; with private references the strictest available)",
    )
    add(
        "--threads",
        type=functools.partial(whole_number, "threads", MAX_THREADS),
        default=1,
        help="threads of torch (default: 1)",
    )
    add(
        "--show-text",
        action="store_true",
        help="show texts, printed output and expected values even with private references",
    )
    if name == "report":
        add(
            "--out",
            type=Path,
            metavar="FILE",
            default=Path("report.html"),
            help="the page to write (default: %(default)s)",
        )
        add("--open", action="store_true", help="open the page in a browser")
    return parser


def parse(folder: Path, name: str, arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line.

    Raises:
        SubmissionError: an option is invalid. FileExistsError: a result would replace something.
        PermissionError: it cannot be written.
    """
    options = command_line(folder, name).parse_args(arguments)
    options.references = options.references or recorded_for(folder, options.checkpoint)
    if options.json:
        check_replaceable(options.json, RESULT, option("json", options.json))
    if name == "report":
        check_replaceable(options.out, PAGE, option("out", options.out))
    return options


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Grade what the command line names."""
    escape_unencodable_output()
    options = parse(folder, name, arguments)
    if options.tier in (None, PROCESS):
        # it imports torch, which takes longer than all before it is needed
        SERVERS.start(PROCESS)
    READER.start()
    return grade(folder, name, options)
