"""Shared fixtures: an assignment to test with; testkit/graded.py has those that grade."""

import os
import shutil
from contextlib import closing

import pytest

from tensormark.authoring.course import open_course
from tensormark.authoring.prove import Bench
from tensormark.folder import open_assignment
from tensormark.settings import Settings
from testkit import toy

pytest_plugins = ["testkit.hooks", "testkit.graded"]
# set for the test run, it must not reach the processes that tests start
os.environ.pop("TENSORMARK_MAKE", None)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The folder of the assignment, which tests must not change."""
    return toy.make(tmp_path_factory.mktemp("toy") / "assignment")


@pytest.fixture(scope="session")
def solution(folder):
    return folder / "solution" / toy.MAIN


@pytest.fixture
def copy(folder, tmp_path):
    """A copy of the assignment that a test may change."""
    ignored = shutil.ignore_patterns("__pycache__")  # it might be taken for that of edited files
    return shutil.copytree(folder, tmp_path / "copy", ignore=ignored)


@pytest.fixture(scope="module")
def course(folder):
    return open_course(open_assignment(folder))


@pytest.fixture(scope="module")
def bench(course):
    with closing(Bench(course, Settings.of(course.assignment.folder))) as opened:
        yield opened


@pytest.fixture
def assignment(folder):
    return open_assignment(folder)
