"""Grade one submission: `tensormark check`, `tensormark grade` and `tensormark report`.

Exit status: 0 if the submission was graded, whatever its score; 2 if there is nothing to grade or
an option is invalid; 3 if an exercise could not be graded; 130 if it was interrupted.
"""

import argparse
import contextlib
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tensormark.files import read_regular, write_whole
from tensormark.folder import open_assignment
from tensormark.intake.door import DOOR
from tensormark.intake.texts import MAX_SOURCE, is_given
from tensormark.reports.text import print_any_letter
from tensormark.sandbox.interface import PROCESS, Program, Sandbox
from tensormark.sandbox.worker_process import WorkerProcess
from tensormark.settings import OPTIONS, PAGE, RESULT, Settings, check_writable, parse, recorded_for
from tensormark.usage import option


def versions() -> dict[str, str]:
    """Return the versions of Python, torch and numpy."""
    from importlib.metadata import PackageNotFoundError, version

    numbers = {"Python": platform.python_version()}
    for name in ("torch", "numpy"):
        with contextlib.suppress(PackageNotFoundError):
            numbers[name] = version(name)
    return numbers


def write_report(folder: Path, result: dict[str, Any], path: Path, show: bool) -> None:
    """Write the page, with the changes since the last one, and print where it is."""
    # here, because only this command needs them
    from tensormark.reports import browser, html, runs

    result = runs.with_changes(path.resolve().parent / runs.FOLDER, result)
    forms = [form for form in html.FORMS if (folder / f"handout{form}").is_file()]
    root = Path(os.path.relpath(folder, path.resolve().parent)).as_posix()
    handout = html.Handout("" if root == "." else f"{root}/", forms)
    write_whole(path, html.page(result, handout))
    opened = show and browser.show(path)
    print(
        f"\n  report: {path}" + (", opened in your browser" if opened else "; open it in a browser")
    )


def grade(
    folder: Path, name: str, options: argparse.Namespace, started: WorkerProcess | None
) -> int:
    """Grade what the command line names; return the exit status."""
    # here, because a worker should start before numpy is imported
    from tensormark.grading import Grading
    from tensormark.reports.terminal import Report
    from tensormark.sandbox.process import ProcessSandbox
    from tensormark.sandbox.tiers import open_sandbox

    def opener(tier: str, program: Program) -> Sandbox:
        return ProcessSandbox(program, started) if started else open_sandbox(tier, program)

    chosen = {field.name: getattr(options, field.name) for field in OPTIONS}
    grading = Grading(Settings(**chosen), open_assignment(folder), opener)
    graded = grading.grade(options.submission, name == "check", options.only, Report())
    if grading.withholds:
        print(
            f"\n  {option('show-text', True)} shows what is left out; for staff, not for students"
        )
    graded.versions = versions() if options.json or name == "report" else {}
    if options.json:
        write_whole(options.json, json.dumps(graded.as_json(), indent=2) + "\n")
    if name == "report":
        write_report(folder, graded.as_json(), options.out, options.open)
    return 0 if all(result.score is not None for result in graded.results) else 3


def seems_untouched(path: Path, references: Path) -> bool:
    """Say whether all of a submission's files seem unchanged, so that none will be run.

    This is only a guess that saves starting a worker; it does not affect the grade.
    """
    try:
        digests = json.loads((references / "manifest.json").read_bytes())["starter"]
        files = sorted(path.glob("*.py")) if path.is_dir() else [path]
        return bool(files) and all(
            is_given(read_regular(file, MAX_SOURCE)[0], digests.get(file.name)) for file in files
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def usual_tier(folder: Path, references: Path) -> str:
    """Return the tier to grade in if none was named.

    Whoever has private references grades other people's code.

    Raises:
        SubmissionError: the references are private, and no tier on this machine isolates.
    """
    try:
        private = json.loads((references / "manifest.json").read_bytes()).get("private", True)
    except (OSError, ValueError, AttributeError):
        private = False  # they are not graded with; what is wrong is said later
    if not private:
        return PROCESS
    from tensormark.strictest import strictest_isolating  # here, as it imports numpy

    return strictest_isolating(open_assignment(folder), Settings.of(folder))


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Grade what the command line names."""
    started: WorkerProcess | None = None
    print_any_letter()
    try:
        options = parse(folder, name, arguments)
        if options.json:
            check_writable(options.json, "json", RESULT)
        if name == "report":
            check_writable(options.out, "out", PAGE)
        options.references = options.references or recorded_for(folder, options.checkpoint)
        options.tier = options.tier or usual_tier(folder, options.references)
        if options.tier == PROCESS and not seems_untouched(
            Path(options.submission), options.references
        ):
            started = WorkerProcess(options.threads)
        DOOR.start()
        return grade(folder, name, options, started)
    finally:
        if started is not None:
            started.close()
