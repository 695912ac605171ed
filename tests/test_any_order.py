"""No submission changes the result of another one; `make soak` tries 200 in an order of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.any_order import Course

from conftest import ROOT


@pytest.mark.tier("contained")
def test_honest_submissions_have_their_result_whatever_is_graded_between_them() -> None:
    command = [sys.executable, "-m", "benchmarks.any_order", "--submissions", "30"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "15 honest and 15 bad submissions" in done.stdout


def test_a_result_that_differs_is_told_with_what_was_graded_before() -> None:
    class Forgetful(Course):
        def __init__(self) -> None:
            self.honest = self.bad = {}
            self.alone = {"right": "80"}

        def result(self, name: str) -> str:
            return "0"

    assert Forgetful().run(["right"]) == ["right, after : 0 instead of 80"]


def test_what_is_left_behind_is_noticed(tmp_path: Path) -> None:
    code = (
        "import benchmarks.any_order as course\n"
        "kept = []\n"
        "course.Course.result = lambda self, name: 'same'\n"
        "course.Course.run = lambda self, order: kept.append(open('/dev/null')) or []\n"
        "raise SystemExit(course.main([]))\n"
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 1
    assert "left: " in done.stdout
