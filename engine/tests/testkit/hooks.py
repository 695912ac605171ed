"""Hooks for pytest: sampled cases, missing tiers, long files first."""

import gc
import os
import re
import signal
from pathlib import Path

import pytest

from testkit import tiers
from testkit.opened import open_to_others

# The longest files start first, so that a run does not wait for them at its end.
LONGEST = """test_hostile test_golden test_claims test_installed test_gradescope test_class
    test_release test_hidden""".split()
# Test processes share the cores: an idle second thread of torch would spin on one that another
# process needs.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config):
    """Let other users read what tests need and write; let Ctrl-C be heard in the background too."""
    os.umask(0o022)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells have a job with & ignore it
    if not hasattr(config, "workerinput"):  # of pytest-xdist: its workers inherit it
        open_to_others(config.rootpath)


@pytest.hookimpl(optionalhook=True)  # only pytest-xdist calls it
def pytest_xdist_make_scheduler(config, log):
    """Keep tests that share costly fixtures, of a file or a place, on one worker of pytest-xdist.

    Group marks would do the same, but pytest-xdist 3.8 loses them with pytest 9.2, as it writes
    them into an attribute of the test that is no longer read.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    # ordered by number of tests, a file with a single test of minutes would start last
    config.option.loadscopereorder = False
    from xdist.scheduler import LoadScopeScheduling

    class ByPlace(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file, _, name = nodeid.partition("::")
            place = re.search(r"\[((?:contained|locked)(?:-root|-user)?)\b", name)
            return f"{file} {place[1]}" if place and "hostile" in file else file

    return ByPlace(config, log)


def pytest_collection_modifyitems(config, items):
    """Start with the longest files; deselect what only `make nightly` runs."""
    items.sort(key=lambda item: Path(item.path).stem not in LONGEST)
    selected = []
    deselected = []
    for item in items:
        (selected if tiers.NIGHTLY or in_every_run(item) else deselected).append(item)
    items[:] = selected
    if deselected:
        config.hook.pytest_deselected(items=deselected)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect no garbage while torch and others are imported, and none among them afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def in_every_run(item):
    """Return whether `make test` runs this test, too; there, some cases stand for all."""
    if item.get_closest_marker("nightly"):
        return False
    every = item.get_closest_marker("sampled")
    if every:
        (number,) = set(item.callspec.indices.values())  # the case's: all parameters have the same
        return number % every.args[0] == 0
    if item.get_closest_marker("in_turns"):
        params = item.callspec.params
        each = "hostile" not in params or params["hostile"].in_each_tier
        return tiers.has_turn(params["place"], item.callspec.indices.get("hostile", 0), each)
    return True


def pytest_sessionstart(session):
    """Stop at once if tiers are required and this machine lacks one."""
    in_worker = hasattr(session.config, "workerinput")  # of pytest-xdist
    lines = [] if in_worker else tiers.required_but_missing()
    if lines:
        raise pytest.UsageError("\n".join(f"REQUIRE_TIERS=all, but {line}" for line in lines))


def pytest_runtest_setup(item):
    """Skip tests that need a tier this machine lacks; `-r s` reports each tier once."""
    marker = item.get_closest_marker("tier")
    line = tiers.missing(marker.args[0]) if marker and not tiers.REQUIRED else ""
    if line:
        pytest.skip(line)
