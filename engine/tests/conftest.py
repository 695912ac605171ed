"""Shared fixtures: an assignment to test with; testkit/graded.py has those that grade."""

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
from tensormark.settings import Settings
from testkit import toy

pytest_plugins = ["testkit.hooks", "testkit.graded"]
# variables set for the test run must not reach the processes that tests start
for name in ("TENSORMARK_MAKE", "TENSORMARK_ASSIGNMENT"):
    os.environ.pop(name, None)


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """The folder of the assignment, which tests must not change."""
    return toy.make(tmp_path_factory.mktemp("toy") / "assignment")


@pytest.fixture(scope="session")
def solution(folder: Path) -> Path:
    return folder / "solution" / toy.MAIN


@pytest.fixture
def copy(folder: Path, tmp_path) -> Path:
    """A copy of the assignment that a test may change."""
    ignored = shutil.ignore_patterns("__pycache__")  # it might be taken for that of edited files
    return Path(shutil.copytree(folder, tmp_path / "copy", ignore=ignored))


@pytest.fixture(scope="module")
def course(folder: Path) -> Course:
    return open_course(open_assignment(folder))


@pytest.fixture(scope="module")
def bench(course: Course) -> Iterator[Bench]:
    with closing(Bench(course, Settings.of(course.assignment.folder))) as opened:
        yield opened


@pytest.fixture
def assignment(folder: Path) -> Assignment:
    return open_assignment(folder)
