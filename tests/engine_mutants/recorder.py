"""Notes which test is running, for the probes, and how long each took.

A plugin of pytest for its tests; run as a program, it grades the submissions of the golden corpus.
`probes.py` says what the variable names.
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

PROBES = Path(os.environ["ENGINE_MUTANTS_PROBES"])
CASES = 4  # of a test with parameters
ROWS = 30  # of a kind of submissions of the corpus


def few_cases(names: Sequence[str]) -> set[str]:
    """Return all tests, but some of the cases from all over where a test has many."""
    groups: dict[str, list[str]] = {}
    for name in names:
        test, _, _ = name.partition("[")
        group = test if "::" in test else name.partition("/")[0]
        groups.setdefault(group, []).append(name)
    few: set[str] = set()
    for group, members in groups.items():
        most = CASES if "::" in group else ROWS
        few.update(members[:: -(-len(members) // most)])
    return few


class Recorder:
    """Counts the tests, and writes a line for each when it has ended."""

    def __init__(self) -> None:
        self.number = -1
        self.outcomes: set[str] = set()
        self.start = 0.0

    def begin(self) -> None:
        """Have the probes mark the next test."""
        self.number += 1
        self.outcomes.clear()
        with PROBES.open("r+b") as file:
            file.write(self.number.to_bytes(4, "little"))
        self.start = time.perf_counter()

    def end(self, name: str) -> None:
        """Write down how the test went."""
        seconds = round(time.perf_counter() - self.start, 3)
        with PROBES.with_suffix(".log").open("a", encoding="utf-8") as log:
            log.write(json.dumps([name, self.outcomes == {"passed"}, seconds]) + "\n")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out most cases."""
        few = few_cases([item.nodeid for item in items])
        items[:] = [item for item in items if item.nodeid in few]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note a test."""
        self.begin()
        result = yield
        self.end(item.nodeid)
        return result  # type: ignore[return-value]  # a wrapper's result is pytest's affair

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test, its preparation or its end went."""
        self.outcomes.add(report.outcome)


def pytest_configure(config: pytest.Config) -> None:
    """Add the recorder to a run of pytest."""
    config.pluginmanager.register(Recorder())


def grade_corpus() -> None:
    """Grade the corpus one after another in this process, and note what each reaches."""
    sys.path.insert(0, str(Path("tests/golden").resolve()))
    runner = importlib.import_module("run")
    rows = runner.corpus_in(runner.CORPUS)
    recorder = Recorder()
    few = few_cases(list(rows))
    for name in filter(few.__contains__, rows):
        recorder.begin()
        runner.produced(rows[name])
        recorder.outcomes.add("passed")
        recorder.end(name)


if __name__ == "__main__":
    grade_corpus()
