"""The same submission, the same score: again and again, in every tier, on every processor.

torch and MKL can compute as other processors do: with the plain instructions, or with the widest
that this one has. Accuracies of a fine-tune may differ, but not what they are worth.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graded import edited
from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import open_course
from tensormark.grading import Grading
from tensormark.result import Result
from tensormark.sandbox.interface import TIERS
from tensormark.sandbox.worker_process import PROCESSOR
from tensormark.settings import Settings
from tests.helpers import ROOT
from tests.helpers.bench import Bench

pytestmark = pytest.mark.timeout(3600)
RUNS = int(os.environ.get("RUNS") or 5)  # in each tier, for each number of threads
MISTAKES = int(os.environ.get("MISTAKES") or 60)
TORCH, MKL = PROCESSOR
PROCESSORS: dict[str, tuple[dict[str, str], int]] = {
    "2 threads": ({}, 2),
    "avx2": ({TORCH: "avx2"}, 1),
    "avx512": ({TORCH: "avx512"}, 1),
    "plain torch": ({TORCH: "default"}, 1),
    "plain MKL": ({MKL: "COMPATIBLE"}, 1),
    "plain, 2 threads": ({TORCH: "default", MKL: "COMPATIBLE"}, 2),
}
PARTS = ("id", "outcome", "score", "max_score", "mistake")
WRONG = (
    ("self.dropout(F.softmax(", "(F.softmax("),  # costs a part of attention
    ("words + positions + token_types", "words + positions"),  # costs embed
)


@pytest.fixture(params=PROCESSORS)
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compute as another processor; return the number of threads."""
    words = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    if request.param.startswith("avx") and not any(w.startswith(request.param) for w in words):
        pytest.skip(f"this processor has no {request.param}")
    environment, number = PROCESSORS[request.param]
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return number


def parts(results: list[dict[str, Any]]) -> str:
    return json.dumps([[one[part] for part in PARTS] for one in results])


def with_training(path: Path, tier: str, threads: int) -> str:
    source = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    path.write_text(edited(source, *WRONG), encoding="utf-8")
    settings = Settings.of(ROOT, tier=tier, threads=threads)
    return parts(Grading(settings, ASSIGNMENT).grade(str(path)).as_json()["exercises"])


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    return with_training(tmp_path_factory.mktemp("expected") / "bert.py", "process", 1)


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize("tier", TIERS)
def test_a_grading_has_the_same_verdict_again_and_again(
    tier: str, number: int, expected: str, tmp_path: Path
) -> None:
    for _ in range(RUNS):
        assert with_training(tmp_path / "bert.py", tier, number) == expected


def test_a_grading_has_the_same_verdict_on_another_processor(
    threads: int, expected: str, tmp_path: Path
) -> None:
    assert with_training(tmp_path / "bert.py", "process", threads) == expected


def submissions() -> Iterator[tuple[str, str, str | None]]:
    """Yield a module, its source, and the exercise that it is graded for; None: all."""
    course = open_course(ASSIGNMENT)
    sources = course.sources()
    for module in dict.fromkeys(one.module for one in ASSIGNMENT.exercises if one.probes):
        yield module, sources[module], None
    for right in course.honest:
        yield right.module, right.apply(sources[right.module]), None
    known = course.variants
    for number in range(min(MISTAKES, len(known))):
        wrong = known[number * len(known) // min(MISTAKES, len(known))]
        yield wrong.module, wrong.apply(sources[wrong.module]), wrong.exercise


def checked(threads: int) -> list[str]:
    with Bench(Settings.of(ROOT, threads=threads)) as bench:
        found: list[dict[str, Result]] = [
            bench.ask(source, only, module) for module, source, only in submissions()
        ]
    return [parts([one.as_json() for one in results.values()]) for results in found]


@pytest.fixture(scope="session")
def expected_checks() -> list[str]:
    return checked(1)


def test_checks_have_the_same_verdicts_on_another_processor(
    threads: int, expected_checks: list[str]
) -> None:
    assert checked(threads) == expected_checks
