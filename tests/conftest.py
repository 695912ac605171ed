"""Shared fixtures: the solution's modules, and grading from the command line."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import tiers

if TYPE_CHECKING:
    from bench import Bench

ROOT = Path(__file__).resolve().parent.parent
# Some sentences of the handout and of the answers describe the model of this seed (`make term`).
SHIPPED_SEED = 2026
ANOTHER_SEED = f"--seed {SHIPPED_SEED} " not in (ROOT / "data/README.md").read_text("utf-8")
of_the_shipped_model = pytest.mark.skipif(
    ANOTHER_SEED, reason=f"says something of the model of seed {SHIPPED_SEED}: read it again"
)
# `make test ARGS=...` would hand its options to every make that a test runs
for name in ("MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS"):
    os.environ.pop(name, None)


class Graded(NamedTuple):
    """The result of a grading run."""

    status: int
    output: str
    errors: str
    result: dict[str, Any]

    def exercise(self, name: str) -> dict[str, Any]:
        """Return an exercise of the result model."""
        return next(entry for entry in self.result["exercises"] if entry["id"] == name)

    def outcomes(self) -> dict[str, str]:
        """Return the outcome of each exercise."""
        return {entry["id"]: entry["outcome"] for entry in self.result["exercises"]}


Grade = Callable[..., Graded]


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
    """Leave out submissions that have their turn in another place; see tests/hostile."""
    chosen, others = [], []
    for item in items:
        turns = item.get_closest_marker("in_turns")
        spec = item.callspec if turns else None
        has_turn = not spec or tiers.has_turn(spec.params["place"], spec.indices["hostile"])
        (chosen if has_turn else others).append(item)
    items[:] = chosen
    if others:
        config.hook.pytest_deselected(items=others)


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


@pytest.fixture(scope="session")
def solution_source() -> str:
    return (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")


@pytest.fixture
def grade(tmp_path: Path) -> Grade:
    """Grade a submission in a separate process, like `make check`."""

    def run(submission: Path | str, *options: str, training: bool = False) -> Graded:
        answer = tmp_path / "result.json"
        answer.unlink(missing_ok=True)
        command = [sys.executable, "-m", "grader", str(submission), "--json", str(answer)]
        command += [*options, *([] if training else ["--check"])]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        result = json.loads(answer.read_text(encoding="utf-8")) if answer.is_file() else {}
        return Graded(done.returncode, done.stdout, done.stderr, result)

    return run


@pytest.fixture
def submit(tmp_path: Path, solution_source: str, grade: Grade) -> Grade:
    """Grade the solution with some of its text replaced: submit((old, new), ..., options)."""

    def run(*edits: tuple[str, str], options: tuple[str, ...] = ()) -> Graded:
        source = solution_source
        for old, new in edits:
            assert source.count(old) == 1, f"the solution has {source.count(old)} times {old!r}"
            source = source.replace(old, new)
        path = tmp_path / "bert.py"
        path.write_text(source, encoding="utf-8")
        return grade(path, *options)

    return run


@pytest.fixture(scope="session")
def bench() -> Iterator["Bench"]:
    """Grade many sources of this project's own in one worker: bench.grade(source)."""
    from bench import Bench  # it imports ROOT from here

    from grader.settings import Settings

    with Bench(Settings()) as one:
        yield one
