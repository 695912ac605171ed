"""The same submission, the same score: again and again, in every tier, on every processor.

torch and MKL can compute as other processors do, with the plain instructions. Accuracies of a
fine-tune may differ, but not what they are worth.
"""

import contextlib
import json

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.grading import Grading
from tensormark.sandbox.worker_process import PROCESSOR
from tensormark.settings import Settings
from testkit.graded import edited
from tests.helpers import ROOT
from tests.helpers.known import HONEST, VARIANTS
from tests.helpers.source_bench import SourceBench

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3600)]
MISTAKES = 60
TORCH, MKL = PROCESSOR
PROCESSORS = {
    "2 threads": ({}, 2),
    "plain torch": ({TORCH: "default"}, 1),
    "plain MKL": ({MKL: "COMPATIBLE"}, 1),
    "plain, 2 threads": ({TORCH: "default", MKL: "COMPATIBLE"}, 2),
}
PARTS = ("id", "outcome", "score", "max_score", "mistake")
# costs a part of attention
WRONG = ("self.dropout(F.softmax(", "(F.softmax(")


@pytest.fixture(params=PROCESSORS)
def threads(request, monkeypatch):
    """Compute as another processor; return the number of threads."""
    environment, number = PROCESSORS[request.param]
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return number


def parts(results):
    return json.dumps([[one[part] for part in PARTS] for one in results])


def with_training(path, tier, threads):
    source = (ROOT / "solution" / "bert.py").read_text("utf-8")
    path.write_text(edited(source, WRONG), "utf-8")
    grading = Grading(Settings.of(ROOT, tier=tier, threads=threads), ASSIGNMENT)
    return parts(grading.grade(grading.read(str(path))).as_json()["exercises"])


@pytest.fixture(scope="session")
def expected(tmp_path_factory):
    return with_training(tmp_path_factory.mktemp("expected") / "bert.py", "process", 1)


def test_a_grading_has_the_same_verdict_on_another_processor(threads, expected, tmp_path):
    assert with_training(tmp_path / "bert.py", "process", threads) == expected


def checked(threads):
    """Return the verdicts of honest and wrong code."""
    known = [*HONEST, *VARIANTS[:: len(VARIANTS) // MISTAKES]]
    with contextlib.closing(SourceBench(threads)) as bench:
        found = [bench.ask(o.apply(bench.sources[o.module]), module=o.module) for o in known]
    return [parts([one.as_json() for one in results.values()]) for results in found]


@pytest.fixture(scope="session")
def expected_checks():
    return checked(1)


def test_checks_have_the_same_verdicts_on_another_processor(threads, expected_checks):
    assert checked(threads) == expected_checks
