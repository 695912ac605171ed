"""Shared fixtures: an assignment to test with, and grading from the command line."""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tensormark.authoring.course import Course, open_course
from tensormark.authoring.prove import Bench
from tensormark.exercise import Assignment
from tensormark.folder import open_assignment
from testkit import toy
from testkit.graded import Grade, Graded, edited, grader_of, in_manifest
from testkit.resident import workers_are_kept, workers_are_started

__all__ = ["workers_are_kept", "workers_are_started"]
pytest_plugins = ["testkit.hooks"]
# variables set for the test run must not reach the processes that tests start
for name in ("TENSORMARK_MAKE", "TENSORMARK_ASSIGNMENT"):
    os.environ.pop(name, None)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the assignment, which tests must not change."""
    return toy.make(tmp_path_factory.mktemp("toy") / "assignment")


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A copy of the assignment that a test may change."""
    ignored = shutil.ignore_patterns("__pycache__")  # it might be taken for that of edited files
    return Path(shutil.copytree(folder, tmp_path / "copy", ignore=ignored))


@pytest.fixture(scope="session")
def private(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The references again; their manifest says that they are private."""
    references = tmp_path_factory.mktemp("references") / "private"
    shutil.copytree(folder / "reference_outputs", references)
    in_manifest(references, private=True)
    return references


@pytest.fixture(scope="module")
def course(folder: Path) -> Course:
    return open_course(open_assignment(folder))


@pytest.fixture(scope="module")
def bench(course: Course) -> Iterator[Bench]:
    with closing(Bench(course)) as opened:
        yield opened


@pytest.fixture
def assignment(folder: Path) -> Assignment:
    return open_assignment(folder)


@pytest.fixture(scope="session")
def solution_source(folder: Path) -> str:
    return (folder / "solution" / toy.MAIN).read_text(encoding="utf-8")


@pytest.fixture
def grade(folder: Path, tmp_path: Path) -> Grade:
    """Grade a submission with the command, in the assignment's folder."""
    return grader_of(folder, tmp_path)


@pytest.fixture
def submit(tmp_path: Path, solution_source: str, grade: Grade) -> Grade:
    """Grade the solution with some of its text replaced: submit((old, new), ..., options)."""

    def run(*edits: tuple[str, str], options: tuple[str, ...] = ()) -> Graded:
        path = tmp_path / toy.MAIN
        path.write_text(edited(solution_source, *edits), encoding="utf-8")
        return grade(path, *options)

    return run
