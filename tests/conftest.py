"""Shared fixtures; testkit/graded.py has those that grade from the command line."""

import contextlib
import os
import tempfile
from pathlib import Path

import pytest

from tests.helpers import ROOT

pytest_plugins = ["testkit.hooks", "testkit.graded"]
os.environ["TENSORMARK_MAKE"] = "1"  # so that messages name this assignment's make commands
# `make test ARGS=...` would pass its options on to every make that a test runs
for name in ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS"):
    os.environ.pop(name, None)


@pytest.fixture(scope="session")
def solution():
    return ROOT / "solution" / "bert.py"


@pytest.fixture
def plain():
    """A folder whose path has no spaces, which make would take for several, whatever TMPDIR is."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def bench():
    """Grade many of this project's own sources in one worker: bench.grade(source)."""
    # here, because it imports the engine, which some tests do without
    from tests.helpers.source_bench import SourceBench

    with contextlib.closing(SourceBench()) as bench:
        yield bench
