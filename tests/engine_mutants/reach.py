"""Which test reaches which mutant: the engine's files note it, with a byte for each pair.

Each process that runs such a file, however it was started, writes into a file that is mapped into
memory. This module is a plugin of pytest for its tests; run as a program, it grades the golden
corpus. It is copied to where the environment's packages are, and uses none of this project's.
"""

import ast
import importlib
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

PROBES = "ENGINE_MUTANTS_PROBES"  # the variable that names the file
MOST_TESTS = 6000
CASES = 4  # of a test with parameters
ROWS = 30  # of a kind of submissions of the corpus
OVERHEAD = 0.1  # seconds of every test
PROBE = """
try:
    import mmap as mmap_
    with open({path!r}, "r+b") as file_:
        map_ = mmap_.mmap(file_.fileno(), 0)
    def reached_(number):
        map_[4 + int.from_bytes(map_[:4], "little") * {mutants} + number] = 1
except BaseException:
    reached_ = lambda number: None
"""


def insert(path: Path, lines: Mapping[int, int], mutants: int, probes: Path) -> None:
    """Have a file note that it comes to the statements of these mutants' lines."""
    tree = ast.parse(path.read_text("utf-8"))
    owners: dict[int, ast.stmt] = {}  # by line
    blocks: list[list[ast.stmt]] = []
    for node in ast.walk(tree):  # from the outside to the inside
        if isinstance(node, ast.stmt):
            owners |= dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), node)
        parts = [value for _, value in ast.iter_fields(node) if isinstance(value, list)]
        blocks += [part for part in parts if part and isinstance(part[0], ast.stmt)]
    for block in blocks:
        for statement in [*block]:
            reached = [number for number, line in lines.items() if owners.get(line) is statement]
            calls = ast.parse("".join(f"reached_({number})\n" for number in reached)).body
            at = block.index(statement)
            block[at:at] = calls
    has_docstring = ast.get_docstring(tree) is not None
    tree.body[has_docstring:has_docstring] = ast.parse(
        PROBE.format(path=str(probes), mutants=mutants)
    ).body
    path.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")


def reached(probes: Path, mutants: int) -> dict[int, list[tuple[float, str]]]:
    """Return by mutant the passing tests that reach it, with their times; {} without a record.

    The first ones are quick and reach few mutants, so that they are more likely to be about it.
    """
    if not probes.exists():
        return {}
    found: dict[int, list[tuple[float, float, str]]] = {}
    bits = probes.read_bytes()[4:]
    log = probes.with_suffix(".log").read_text("utf-8")
    for at, line in enumerate(log.splitlines()):
        name, passed, seconds = json.loads(line)
        row = bits[at * mutants : (at + 1) * mutants]
        rank = (seconds + OVERHEAD) * sum(row)
        for number in range(mutants):
            if passed and row[number]:
                found.setdefault(number, []).append((rank, seconds, name))
    return {number: [test[1:] for test in sorted(tests)] for number, tests in found.items()}


def few_cases(names: Sequence[str]) -> set[str]:
    """Return all tests, but some of the cases from all over where a test has many."""
    groups: dict[str, list[str]] = {}
    for name in names:
        group = name.partition("[")[0] if "::" in name else name.partition("/")[0]
        groups.setdefault(group, []).append(name)
    few: set[str] = set()
    for group, members in groups.items():
        few.update(members[:: -(-len(members) // (CASES if "::" in group else ROWS))])
    return few


class Recorder:
    """Counts the tests, and writes a line for each when it has ended."""

    def __init__(self) -> None:
        self.probes = Path(os.environ[PROBES])
        self.number = 0
        self.outcomes: set[str] = set()

    def begin(self) -> float:
        """Have the probes mark this test; return when it began."""
        self.outcomes = set()
        with self.probes.open("r+b") as file:
            file.write(self.number.to_bytes(4, "little"))
        return time.perf_counter()

    def end(self, name: str, start: float) -> None:
        """Write down how the test went."""
        seconds = round(time.perf_counter() - start, 3)
        with self.probes.with_suffix(".log").open("a", encoding="utf-8") as log:
            log.write(json.dumps([name, self.outcomes <= {"passed"}, seconds]) + "\n")
        self.number += 1

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out most cases."""
        few = few_cases([item.nodeid for item in items])
        items[:] = [item for item in items if item.nodeid in few]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note a test."""
        start = self.begin()
        result = yield
        self.end(item.nodeid, start)
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
        start = recorder.begin()
        runner.produced(rows[name])
        recorder.end(name, start)


if __name__ == "__main__":
    grade_corpus()
