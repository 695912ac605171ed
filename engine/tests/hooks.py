"""What pytest does in a special way: turns, missing tiers, long files first, durations."""

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tiers

# They would be what a run waits for at its end, and so are begun first.
LONGEST = "test_hostile test_known test_installed test_second_assignment test_gradescope".split()
# Processes that test side by side have a core each at most: a second thread of torch would wait for
# the first in a loop that takes the core from another one.
os.environ.setdefault("OMP_NUM_THREADS", "1")
SHOWN = 20  # tests, and files, of those that took longest


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist nothing calls it
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give what shares costly fixtures to one worker of pytest-xdist: a file, or a place.

    Marks with the name of a group would say the same, but pytest-xdist 3.8 loses them with pytest
    9.2: it writes them into an attribute of the test that is no longer read.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    # by the number of its tests, a file with one that takes minutes would begin when all else ends
    config.option.loadscopereorder = False
    from xdist.scheduler import LoadScopeScheduling

    class ByPlace(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, name = nodeid.partition("::")
            place = re.search(r"\[((?:contained|locked)(?:-root|-user)?)\b", name)
            return f"{file} {place[1]}" if place and "hostile" in file else file

    return ByPlace(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[Any]) -> None:
    """Begin with the longest files; leave out what only `make nightly` runs."""
    items.sort(key=lambda item: Path(item.path).stem not in LONGEST)
    chosen, others = [], []
    for item in items:
        (chosen if tiers.NIGHTLY or in_every_run(item) else others).append(item)
    items[:] = chosen
    if others:
        config.hook.pytest_deselected(items=others)


def in_every_run(item: Any) -> bool:
    """Say whether this is a test of `make test` too, where some cases stand for all of theirs."""
    if item.get_closest_marker("nightly"):
        return False
    if every := item.get_closest_marker("sampled"):
        (number,) = {*item.callspec.indices.values()}  # the case's, whichever parameter is asked
        return bool(number % every.args[0] == 0)
    if item.get_closest_marker("in_turns"):
        given, number = item.callspec.params, item.callspec.indices["hostile"]
        return tiers.has_turn(given["place"], number, given["hostile"].in_each_tier)
    return True


def pytest_sessionstart(session: pytest.Session) -> None:
    """End at once where tiers are required and this machine lacks one."""
    in_worker = hasattr(session.config, "workerinput")  # of pytest-xdist
    if not in_worker and (lines := tiers.required_but_missing()):
        raise pytest.UsageError("\n".join(f"REQUIRE_TIERS=all, but {line}" for line in lines))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what needs a tier that this machine lacks; `-r s` says so once for each tier."""
    marker = item.get_closest_marker("tier")
    if marker and not tiers.REQUIRED and (line := tiers.missing(marker.args[0])):
        pytest.skip(line)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """After a run of all tests, show what took longest; keep how long each test took."""
    part = config.option.keyword or config.option.markexpr or config.option.collectonly
    if part or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    reports = [report for found in terminalreporter.stats.values() for report in found]
    tests, files = Counter[str](), Counter[str]()
    for report in reports:
        if isinstance(report, pytest.TestReport):
            tests[report.nodeid] += report.duration
            files[report.nodeid.partition("::")[0]] += report.duration
    text = "".join(f"{seconds:.2f}\t{name}\n" for name, seconds in tests.most_common())
    (config.rootpath / ".durations.tsv").write_text(text, encoding="utf-8")
    for counted, what in ((files, "files"), (tests, "tests")):
        terminalreporter.section(f"the {SHOWN} longest {what}, of {counted.total():.0f} s in all")
        for name, seconds in counted.most_common(SHOWN):
            terminalreporter.write_line(f"{seconds:7.1f} s  {name}")
