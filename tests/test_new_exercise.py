"""`make exercise` writes a bonus exercise into an extension's file, and names make's variables."""

import shutil
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from resident import called
from tensormark.authoring.new_exercise import skeleton
from tensormark.usage import UserError
from tests.helpers import ROOT

FOLDERS = ("grader", "handout", "instructor", "solution", "starter", "checkpoint", "data")


def run(root: Path, *arguments: str) -> str:
    completed = called(root, *arguments)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def test_a_bonus_exercise_is_recorded_and_graded_and_its_mistakes_are_named(tmp_path: Path) -> None:
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("handout.md", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    run(tmp_path, "exercise", "--bonus", "doubled")

    lines = run(tmp_path, "try", "doubled").splitlines()

    outcomes = {line[2:42].strip(): " ".join(line[42:].split()) for line in lines}
    assert outcomes["solution"] == outcomes["honest doubled_as_a_sum"] == "passed 4/4"
    assert outcomes["starter"] == "not written yet 0/4"
    assert outcomes["mistake doubled_squared"] == "failed 0/4 the tensor is squared, not doubled"
    assert {line[:2] for line in lines} == {"  "}
    handout = (tmp_path / "handout" / "extensions.md").read_text(encoding="utf-8")
    assert "**Run**. `make check K=doubled`" in handout


def test_a_refusal_names_makes_options() -> None:
    with pytest.raises(UserError, match=r"FILE=bert.py: must be one of optimizer.py"):
        skeleton(ASSIGNMENT, "doubled", "bert.py", bonus=True)
