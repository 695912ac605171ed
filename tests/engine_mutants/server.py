"""Runs chosen tests with a mutant, each time in a fork of a process that has imported everything.

`python -P tests/engine_mutants/server.py KIND`, in a copy of the checkout; KIND is `root` or
`engine` for the tests of pytest, or `golden` for the corpus. Each line of standard input is an
order, answered by a line of JSON. Functions that live in this process get the mutant's code in the
fork; processes that are started there find it in the file.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

MEMORY = 8 << 30
FILES = 1 << 30
# when it is found what each test reaches
CASES = 4  # of a test with parameters
ROWS = 30  # of a kind of submissions of the corpus
ORDERS, ANSWERS = os.dup(0), os.dup(1)  # tests have the standard streams
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
Order = dict[str, Any]


def named(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of all functions with a name that are defined in some code."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if not constant.co_name.startswith("<"):
                yield constant
            yield from named(constant)


def replace_code(path: str, old: str, new: str) -> None:
    """Give the functions of a module that has been imported the code of another source."""
    pairs = zip(*(named(compile(text, path, "exec")) for text in (old, new)), strict=True)
    by_place = {(code.co_qualname, code.co_firstlineno): changed for code, changed in pairs}
    gc.unfreeze()  # frozen objects are not listed
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__.co_filename == path:
            code = function.__code__
            changed = by_place.get((code.co_qualname, code.co_firstlineno))
            if changed and changed.co_freevars == code.co_freevars:
                function.__code__ = changed


class Corpus:
    """The submissions of the golden corpus as tests."""

    def __init__(self) -> None:
        sys.path.insert(0, str(Path("tests/golden").resolve()))
        self.run, self.product = (importlib.import_module(name) for name in ("run", "product"))
        self.rows = self.run.corpus_in(self.run.CORPUS)
        self.recorded = self.run.read(self.run.EXPECTED)
        self.names = list(self.rows)
        self.product.opened()

    def outcome(self, name: str, _following: str | None) -> str:
        """Return whether a submission's verdict is the recorded one."""
        try:
            text = self.run.produced(self.rows[name])[1]
        except Exception as error:
            text = repr(error)
        if self.run.same(self.recorded[name], text):
            return "passed"
        print(self.run.difference(name, self.recorded[name], text), flush=True)
        return "failed"

    def start_afresh(self) -> None:
        """Have later workers started from the files."""
        self.product.opened.cache_clear()

    def servers(self) -> list[Any]:
        """Return the processes that wait for work."""
        return [self.product.opened().workers]

    def renew(self) -> None:
        """Replace these processes."""
        self.product.opened().workers.close()
        self.product.opened.cache_clear()
        self.product.opened()


class Tests:
    """The tests of a session of pytest."""

    def __init__(self, session: pytest.Session) -> None:
        self.items = {item.nodeid: item for item in session.items}
        self.names = list(self.items)
        self.outcomes: set[str] = set()
        session.config.pluginmanager.register(self)
        shared = ("submit", "course", "folder")  # the fixtures of most tests
        warm = min(session.items, key=lambda item: not {*shared} & {*item.fixturenames})
        other = max(session.items, key=lambda item: item.path != warm.path)
        self.warm_up = (warm.nodeid, other.nodeid)
        self.outcome(*self.warm_up)  # makes what all tests share
        self.resident = importlib.import_module("resident")

    def outcome(self, name: str, following: str | None) -> str:
        """Run a test, and take down what the following one does not use."""
        self.outcomes.clear()
        item = self.items[name]
        item.ihook.pytest_runtest_protocol(item=item, nextitem=self.items.get(following or ""))
        return next(kind for kind in ("failed", "skipped", "passed") if kind in self.outcomes)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test, its preparation or its end went."""
        self.outcomes.add(report.outcome)
        if report.failed:
            print(f"\n{report.nodeid}: {report.longreprtext}")  # for whoever looks into the log

    def start_afresh(self) -> None:
        """Have later workers started from the files."""
        self.resident.WORKERS.idle.clear()

    def servers(self) -> list[Any]:
        """Return the processes that wait for work."""
        return [server for idle in self.resident.WORKERS.idle.values() for server in idle]

    def renew(self) -> None:
        """Replace these processes."""
        self.resident.WORKERS.close()
        self.outcome(*self.warm_up)


def first_failure(tests: Corpus | Tests, names: list[str]) -> str | None:
    """Run tests up to the first that fails; return its name."""
    for name, following in zip(names, [*names[1:], None], strict=True):
        if tests.outcome(name, following) == "failed":
            return name
    return None


def be_child(tests: Corpus | Tests, order: Order, answer: int) -> None:
    """Run the tests of an order with its mutant, and answer."""
    os.setsid()
    for kind, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_FSIZE, FILES)):
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
    before = tests.servers()
    if order.get("afresh"):
        tests.start_afresh()
    if order.get("file"):
        path = Path(order["file"]).resolve()
        replace_code(str(path), order["old"], path.read_text(encoding="utf-8"))
    killer = first_failure(tests, order["tests"])
    clean = order.get("afresh") or tests.servers()[: len(before)] == before
    os.write(answer, json.dumps({"killer": killer, "clean": bool(clean)}).encode())


def carried_out(tests: Corpus | Tests, order: Order) -> Order:
    """Carry out an order in a fork, within its limit of time."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with contextlib.suppress(BaseException):
            be_child(tests, order, writing)
        os._exit(0)
    os.close(writing)
    if select.select([reading], [], [], order["seconds"])[0]:
        text = os.read(reading, 1 << 16)
        result = json.loads(text) if text else {"killer": "ended", "clean": False}
    else:
        result = {"killer": "timeout", "clean": False}
    os.close(reading)
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return result


def few_cases(names: list[str]) -> list[str]:
    """Return all tests, but some of the cases from all over where a test has many."""
    groups: dict[str, list[str]] = {}
    for name in names:
        test, _, _ = name.partition("[")
        groups.setdefault(test if "::" in test else name.partition("/")[0], []).append(name)
    most = {name: CASES if "::" in name else ROWS for name in groups}
    return [name for key, group in groups.items() for name in group[:: -(-len(group) // most[key])]]


def record(tests: Corpus | Tests, order: Order) -> None:
    """Run all tests, and note for each the time and, by the probes, which mutants it reaches."""
    probes, log = Path(order["probes"]), Path(order["log"])
    names = few_cases(tests.names)
    with probes.open("r+b", buffering=0) as current:
        for at, (name, following) in enumerate(zip(names, [*names[1:], None], strict=True)):
            current.seek(0)
            current.write(at.to_bytes(4, "little"))
            start = time.perf_counter()
            outcome = tests.outcome(name, following)
            seconds = time.perf_counter() - start
            with log.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps([name, outcome, round(seconds, 3)]) + "\n")


def serve(open_tests: Callable[[], Corpus | Tests]) -> None:
    """Carry out orders until there are no more."""
    tests = open_tests()
    importlib.import_module("tensormark.intake.door").DOOR.close()  # each child starts its own
    gc.freeze()
    with os.fdopen(ORDERS, encoding="utf-8") as orders:
        for line in orders:
            order = json.loads(line)
            if "probes" in order:
                record(tests, order)
                result: Order = {"recorded": len(tests.names)}
            elif "renew" in order:
                tests.renew()
                result = {}
            else:
                known = [name for name in order["tests"] if name in set(tests.names)]
                result = carried_out(tests, {**order, "tests": known})
            os.write(ANSWERS, json.dumps(result).encode() + b"\n")


class Serving:
    """Has pytest collect tests, and then carry out orders instead of running all."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take pytest's place."""
        serve(lambda: Tests(session))
        return True


def main(kind: str, files: list[str]) -> None:
    """Serve one kind of tests."""
    if kind == "golden":
        serve(Corpus)
        return
    if kind == "engine":
        os.chdir("engine")
    pytest.main(
        ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", *files], plugins=[Serving()]
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
