"""The entry point: `python -m grader SUBMISSION` (`make check`, `make grade`).

Exit status: 0 if the submission was graded, whatever its score; 2 if there is nothing to grade or
an option is invalid; 3 if an exercise could not be graded; 130 if it was interrupted.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.files import ROOT, write_whole
from grader.intake.door import DOOR, InspectionError
from grader.intake.submission import SubmissionError
from grader.reports.text import print_any_letter
from grader.sandbox.interface import PROCESS, Program, Sandbox, printable
from grader.sandbox.worker_process import WorkerProcess
from grader.settings import OPTIONS, Settings, check_writable, parse, recorded_for


def versions() -> dict[str, str]:
    """Return the versions of Python and of what tensors are computed with."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"Python": platform.python_version()}
    for name in ("torch", "numpy"):
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def write_report(result: dict[str, Any], path: Path, show: bool) -> None:
    """Write the page, with what has changed since the last one, and say where it is."""
    # here, because only this target needs them
    from grader.reports import browser, html, runs

    result = runs.with_changes(path.resolve().parent / runs.FOLDER, result)
    handouts = [ROOT / name for name in html.HANDOUTS if (ROOT / name).is_file()]
    links = [os.path.relpath(handout, path.resolve().parent) for handout in handouts]
    write_whole(path, html.page(result, links))
    opened = show and browser.show(path)
    print(
        f"\n  report: {path}" + (", opened in your browser" if opened else "; open it in a browser")
    )


def grade(options: argparse.Namespace, started: WorkerProcess | None) -> int:
    """Grade what the command line names; return the exit status."""
    # here, because a worker should be started before numpy is imported
    from grader.grading import Grading
    from grader.reports.terminal import Report
    from grader.sandbox.process import ProcessSandbox
    from grader.sandbox.tiers import open_sandbox

    def opener(tier: str, program: Program) -> Sandbox:
        return ProcessSandbox(program, started) if started else open_sandbox(tier, program)

    chosen = {field.name: getattr(options, field.name) for field in OPTIONS}
    grading = Grading(dataclasses.replace(Settings(), **chosen), opener=opener)
    made = grading.grade(options.submission, options.check, options.only, Report())
    if grading.withholds:
        print("\n  SHOW_TEXT=1 shows what is left out; it is for staff, and not for students")
    made.versions = versions() if options.json or options.report else {}
    if options.json:
        write_whole(options.json, json.dumps(made.as_json(), indent=2) + "\n")
    if options.report:
        write_report(made.as_json(), options.report, options.open)
    return 0 if all(result.score is not None for result in made.results) else 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade what the command line names."""
    started = None
    print_any_letter()
    try:
        options = parse(arguments)
        if options.json:
            check_writable(options.json)
        if options.report:
            check_writable(options.report, "OUT", ".html")
        options.references = options.references or recorded_for(options.checkpoint)
        started = WorkerProcess(options.threads) if options.tier == PROCESS else None
        DOOR.start()
        return grade(options, started)
    except (SubmissionError, InspectionError, OSError) as error:
        print(f"grade: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ngrade: interrupted; no result was written", file=sys.stderr)
        return 130
    finally:
        if started is not None:
            started.close()


if __name__ == "__main__":
    sys.exit(main())
