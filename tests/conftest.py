"""Shared fixtures: the solution's text, and grading from the command line."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from testkit.graded import Grade, Graded, edited, grader_of
from testkit.resident import workers_are_kept, workers_are_started
from tests.helpers import ROOT

if TYPE_CHECKING:
    from tests.helpers.bench import Bench

__all__ = ["ROOT", "workers_are_kept", "workers_are_started"]
pytest_plugins = ["testkit.hooks"]
os.environ["TENSORMARK_MAKE"] = "1"  # so that messages name this assignment's make commands
# `make test ARGS=...` would pass its options on to every make that a test runs
for name in ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS"):
    os.environ.pop(name, None)


@pytest.fixture(scope="session")
def solution_source() -> str:
    return (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")


@pytest.fixture
def grade(tmp_path: Path) -> Grade:
    """Grade a submission as `make check` does."""
    return grader_of(ROOT, tmp_path)


@pytest.fixture
def submit(tmp_path: Path, solution_source: str, grade: Grade) -> Grade:
    """Grade the solution with some of its text replaced: submit((old, new), ..., options)."""

    def run(*edits: tuple[str, str], options: tuple[str, ...] = ()) -> Graded:
        path = tmp_path / "bert.py"
        path.write_text(edited(solution_source, *edits), encoding="utf-8")
        return grade(path, *options)

    return run


@pytest.fixture(scope="session")
def bench() -> Iterator["Bench"]:
    """Grade many of this project's own sources in one worker: bench.grade(source)."""
    # here, because it imports the engine, which some tests do without
    from tests.helpers.bench import Bench

    with contextlib.closing(Bench()) as bench:
        yield bench
