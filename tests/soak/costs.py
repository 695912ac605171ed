"""What a submission costs the grader itself, apart from processes that have their own limits."""

import time
from pathlib import Path
from typing import NamedTuple

from grader.assignment import ASSIGNMENT
from soak.attacks import Attack, write
from tensormark.grading import Grading
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import Limits
from tensormark.settings import Settings
from tests.helpers import ROOT

# on top of what this process already uses
SECONDS = 5.0
MEGABYTES = 400.0
LIMITS = Limits(load_seconds=20.0, call_seconds=10.0)


class Cost(NamedTuple):
    """What one submission cost this process, and the exercises that could not be graded."""

    seconds: float
    megabytes: float
    ungraded: list[str]


def memory(field: str) -> float:
    """Return the MB that this process uses (VmRSS), or its peak since `forget_peak` (VmHWM)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"this kernel does not report {field}")


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def grading_in(tier: str) -> Grading:
    return Grading(Settings.of(ROOT, tier=tier, limits=LIMITS), ASSIGNMENT)


def cost(grading: Grading, attack: Attack, folder: Path) -> Cost:
    """Grade an attack, as `make check` does, from an empty folder."""
    path = write(attack, folder)
    forget_peak()
    before = time.process_time(), memory("VmRSS")
    try:
        results = grading.grade(str(path), check=True).results
    except SubmissionError:  # "nothing to grade" is a valid answer, too
        results = []
    ungraded = [result.id for result in results if result.score is None]
    return Cost(time.process_time() - before[0], memory("VmHWM") - before[1], ungraded)


def assert_cheap(grading: Grading, attack: Attack, folder: Path) -> None:
    """Grade an attack, and fail if it exceeds a limit or is not graded."""
    total = cost(grading, attack, folder)
    assert total.seconds <= SECONDS
    assert total.megabytes <= MEGABYTES
    assert not total.ungraded
