"""`make exercise` writes a bonus exercise into an extension's file, and names make's variables."""

import shutil
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.authoring.new_exercise import SkeletonError, skeleton

from conftest import ROOT
from resident import called

FOLDERS = ("grader", "instructor", "solution", "starter", "checkpoint", "data")
BONUS = [one.id for one in ASSIGNMENT.exercises if one.file == "transformer.py"]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this repository with a new exercise, doubled."""
    root = tmp_path_factory.mktemp("checkout")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("handout.md", "requirements.txt"):
        shutil.copy(ROOT / name, root)
    (root / "reference_outputs").mkdir()  # the manifest knows that nobody has edited the starter
    shutil.copy(ROOT / "reference_outputs" / "manifest.json", root / "reference_outputs")
    run(root, "exercise", "--bonus", "doubled")
    run(root, "starter")
    run(root, "handout")
    return root


def run(root: Path, *words: str) -> str:
    done = called(root, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_skeleton_is_recorded_graded_and_its_mistakes_are_named(checkout: Path) -> None:
    lines = run(checkout, "try", "doubled").splitlines()

    words = {line[2:42].strip(): " ".join(line[42:].split()) for line in lines}
    assert words["solution"] == words["honest doubled_as_a_sum"] == "passed 4/4"
    assert words["starter"] == "not written yet 0/4"
    assert words["mistake doubled_squared"] == "failed 0/4 the tensor is squared, not doubled"
    assert {line[:2] for line in lines} == {"  "}


def test_the_handout_has_its_block_and_its_row_in_the_table(checkout: Path) -> None:
    text = (checkout / "handout.md").read_text(encoding="utf-8")

    assert text.index(f"### Problem ({BONUS[-1]})") < text.index("### Problem (doubled)")
    row = "| [doubled](#problem-doubled-todo-a-title-4-points-about-15-minutes) | 3 | | 1 | 4 |"
    assert row in text
    assert "**Run**. `make check K=doubled`" in text


@pytest.mark.parametrize(
    ("file", "before", "says"),
    [
        ("bert.py", None, "FILE=bert.py: must be one of optimizer.py, pretraining.py,"),
        ("transformer.py", "adamw", "BEFORE=adamw: must be one of the exercises in"),
    ],
)
def test_a_refusal_names_makes_options(file: str, before: str | None, says: str) -> None:
    with pytest.raises(SkeletonError, match=says):
        skeleton(ASSIGNMENT, "doubled", file, before, bonus=True)
