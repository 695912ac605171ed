"""Runs the graders of this checkout, and of another, possibly older, to compare with."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from instructor import ROOT

SERVE_SCRIPT = Path(__file__).with_name("serve.py")
# the modules of the commands in checkouts from before the engine was a separate distribution
OLD_MODULES = {"check": "grader --check", "grade": "grader", "watch": "grader.watch"}
OLD_MODULES["class"] = "instructor.course"


class Checkout(NamedTuple):
    """A folder with this project, and a Python that has the packages it needs."""

    root: Path
    python: str

    @property
    def name(self) -> str:
        """Its commit, or its folder's name without one."""
        command = ["git", "-C", str(self.root), "describe", "--tags", "--always"]
        commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        return commit or self.root.name

    def command(self, name: str, *options: object) -> list[str]:
        """Return the command line of one of the grader's commands."""
        words = ["-P", "-m", "tensormark", name]
        if not (self.root / "engine").is_dir():
            words = ["-m", *OLD_MODULES[name].split()]
        return [self.python, *words, *map(str, options)]


class Checkouts(NamedTuple):
    """This checkout, and perhaps another one to compare with."""

    ours: Checkout
    other: Checkout | None


def checkouts(other: Path | None) -> Checkouts:
    """Return this checkout and, if given, another with a virtual environment in .venv."""
    ours = Checkout(ROOT, sys.executable)
    if other is None:
        return Checkouts(ours, None)
    return Checkouts(ours, Checkout(other, str(other.absolute() / ".venv" / "bin" / "python")))


class Grader:
    """A process that grades submissions one after another; see serve.py."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def grade(self, path: Path, how: str = "check") -> float:
        """Grade a submission; return the seconds it took.

        Args:
            how: "grade", or "check" without the training.

        Raises:
            RuntimeError: it was not graded.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        started = time.perf_counter()
        print(how, path, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer.startswith("graded"):
            raise RuntimeError(f"{path.name}: {answer or 'the grader exited'}")
        return time.perf_counter() - started


@contextmanager
def grader(checkout: Checkout, tier: str) -> Iterator[Grader]:
    """Start a grader in a tier, or without isolation; see serve.py."""
    command = [checkout.python, "-P", str(SERVE_SCRIPT), tier]
    env = os.environ | {"PYTHONPATH": str(checkout.root)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=checkout.root, env=env, stdin=pipe, stdout=pipe, text=True
    ) as process:
        yield Grader(process)
