"""What the tests share: the solution's modules, and grading as a person does it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from bench import Bench

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "solution"))  # its modules import each other by their bare names


class Graded(NamedTuple):
    """What a grading run came to."""

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give what shares costly fixtures to one worker of pytest-xdist: a file, or a place."""
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        group = parameters.get("place", item.path.stem)
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def solution_source() -> str:
    return (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")


@pytest.fixture
def grade(tmp_path: Path) -> Grade:
    """Grade a submission in a process of its own, as `make check` does."""

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
