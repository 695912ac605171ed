"""What attacks cost the grader itself, apart from processes that have their own limits."""

import functools
import time
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.grading import Grading
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import CONTAINED, Limits
from tensormark.settings import Settings
from tests.helpers import ROOT
from tests.soak.attacks import KNOWN, Attack, drawn, write
from tests.soak.seeds import rng

# on top of what this process already uses
SECONDS = 5.0
MEGABYTES = 400.0
LIMITS = Limits(load_seconds=20.0, call_seconds=10.0)
pytestmark = pytest.mark.tier(CONTAINED)


def memory(field: str) -> float:
    """Return the MB that this process uses (VmRSS), or its peak (VmHWM)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"this kernel does not report {field}")


@functools.cache
def grading() -> Grading:
    return Grading(Settings.of(ROOT, tier=CONTAINED, limits=LIMITS), ASSIGNMENT)


def assert_cheap(attack: Attack, folder: Path) -> None:
    """Grade an attack, as `make check` does; fail if it exceeds a limit or is not graded."""
    path = write(attack, folder)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak
    seconds = time.process_time()
    megabytes = memory("VmRSS")
    try:
        results = grading().grade(str(path), check=True).results
    except SubmissionError:  # "nothing to grade" is a valid answer, too
        results = []
    assert time.process_time() - seconds <= SECONDS
    assert memory("VmHWM") - megabytes <= MEGABYTES
    assert all(result.score is not None for result in results)


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_attack_costs_little(name: str, tmp_path: Path) -> None:
    assert_cheap(KNOWN[name](), tmp_path)


@pytest.mark.parametrize("number", range(200))
def test_a_drawn_attack_costs_little(number: int, tmp_path: Path) -> None:
    assert_cheap(drawn(rng(number)), tmp_path)
