"""Grade one submission after another in one process: `python benchmarks/serve.py TIER`.

A line on standard input is `check` or `grade` and a path; the answer is a line, `graded` and the
score, or what went wrong. It runs in the folder of a checkout, also of an older one. The tier
`kept` has no isolation, nor a process for each submission: one worker, as a test suite would do it.
"""

import contextlib
import importlib
import sys
from pathlib import Path
from typing import Any


class Kept:
    """Opens the same sandbox, without isolation, for every submission."""

    def __init__(self) -> None:
        self.sandbox: Any = None

    def __call__(self, tier: str, program: Any) -> Any:
        """Return the one sandbox with another submission in it."""
        if self.sandbox is None:
            found = importlib.import_module("tensormark.sandbox.process")
            self.sandbox = found.ProcessSandbox(program)
        self.sandbox.program = program
        self.sandbox.reload(program.sources)
        return contextlib.nullcontext(self.sandbox)


def grading(tier: str) -> Any:
    """Return what grades submissions."""
    try:
        engine = importlib.import_module("tensormark.grading")
    except ImportError:  # up to 1.3.0 the engine was a part of grader/
        settings = importlib.import_module("grader.settings").Settings(tier=tier)
        return importlib.import_module("grader.grading").Grading(settings)
    settings = importlib.import_module("tensormark.settings").Settings
    assignment = importlib.import_module("grader.assignment").ASSIGNMENT
    if tier == "kept":
        return engine.Grading(settings.of(Path.cwd()), assignment, opener=Kept())
    return engine.Grading(settings.of(Path.cwd(), tier=tier), assignment)


def main() -> None:
    """Grade what standard input names."""
    made = grading(sys.argv[1])
    for line in sys.stdin:
        how, path = line.rstrip("\n").split(" ", 1)
        try:
            found = made.grade(path, check=how == "check")
        except Exception as error:
            if type(error).__name__ != "SubmissionError":
                raise
            print("graded: there is nothing to grade", flush=True)
            continue
        ungraded = [result.id for result in found.results if result.score is None]
        print(f"could not grade {ungraded}" if ungraded else f"graded {found.score}", flush=True)


if __name__ == "__main__":
    main()
