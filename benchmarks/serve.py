"""Grade submissions one after another in one process: `python benchmarks/serve.py TIER`.

A line on standard input is `check` or `grade` and a path; the answer is a line with `graded` and
the score, or with the error. Runs in the folder of a checkout, which may be older. The tier `kept`
has neither isolation nor a process for each submission: one worker grades all, as in a test suite.
"""

import contextlib
import importlib
import sys
from pathlib import Path
from typing import Any


class SharedSandbox:
    """Opens the same sandbox, without isolation, for every submission."""

    def __init__(self) -> None:
        self.sandbox: Any = None

    def __call__(self, tier: str, program: Any) -> Any:
        """Return the one sandbox with another submission in it."""
        if self.sandbox is None:
            process = importlib.import_module("tensormark.sandbox.process")
            self.sandbox = process.ProcessSandbox(program)
        self.sandbox.program = program
        self.sandbox.reload(program.sources)
        return contextlib.nullcontext(self.sandbox)


def grading(tier: str) -> Any:
    """Return the checkout's Grading."""
    try:
        engine = importlib.import_module("tensormark.grading")
    except ImportError:  # up to 1.3.0 the engine was part of grader/
        settings = importlib.import_module("grader.settings").Settings(tier=tier)
        return importlib.import_module("grader.grading").Grading(settings)
    settings = importlib.import_module("tensormark.settings").Settings
    assignment = importlib.import_module("grader.assignment").ASSIGNMENT
    if tier == "kept":
        return engine.Grading(settings.of(Path.cwd()), assignment, opener=SharedSandbox())
    return engine.Grading(settings.of(Path.cwd(), tier=tier), assignment)


def main() -> None:
    """Grade the submissions named on standard input."""
    grader = grading(sys.argv[1])
    for line in sys.stdin:
        how, path = line.rstrip("\n").split(" ", 1)
        try:
            grade = grader.grade(path, check=how == "check")
        except Exception as error:
            if type(error).__name__ != "SubmissionError":
                raise
            print("graded: there is nothing to grade", flush=True)
            continue
        ungraded = [result.id for result in grade.results if result.score is None]
        print(f"could not grade {ungraded}" if ungraded else f"graded {grade.score}", flush=True)


if __name__ == "__main__":
    main()
