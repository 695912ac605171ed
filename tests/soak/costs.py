"""What a submission costs the grader itself, apart from processes that have limits of their own."""

import resource
from pathlib import Path
from typing import NamedTuple

from grader.assignment import ASSIGNMENT
from tensormark.grading import Grading
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import Limits
from tensormark.settings import Settings

from conftest import ROOT
from soak.attacks import Attack, write

SECONDS, MEGABYTES = 5.0, 400.0  # besides what this process has before
LIMITS = Limits(load_seconds=20.0, call_seconds=10.0)


class Cost(NamedTuple):
    """What one submission has cost this process, and the exercises that it could not grade."""

    seconds: float
    megabytes: float
    ungraded: list[str]


def memory(field: str) -> float:
    """Return the MB that this process has, VmRSS, or the most since `forget_peak`, VmHWM."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"this kernel does not tell {field}")


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def grading_in(tier: str) -> Grading:
    return Grading(Settings.of(ROOT, tier=tier, limits=LIMITS), ASSIGNMENT)


def cost(grading: Grading, attack: Attack, folder: Path) -> Cost:
    """Grade an attack, as `make check` does, from an empty folder."""
    path = write(attack, folder)
    forget_peak()
    before = seconds(), memory("VmRSS")
    try:
        results = grading.grade(str(path), check=True).results
    except SubmissionError:  # that there is nothing to grade is an answer as well
        results = []
    ungraded = [result.id for result in results if result.score is None]
    return Cost(seconds() - before[0], memory("VmHWM") - before[1], ungraded)


def assert_cheap(grading: Grading, attack: Attack, folder: Path) -> None:
    """Grade an attack, and fail if it costs more than is allowed, or is not graded."""
    found = cost(grading, attack, folder)
    assert found.seconds <= SECONDS
    assert found.megabytes <= MEGABYTES
    assert not found.ungraded
