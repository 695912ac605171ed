"""The skeleton of a new exercise runs as it is written."""

import ast
import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.assignment import MINBERT
from grader.exercise import Assignment
from instructor.references.new_exercise import SkeletonError, skeleton

from conftest import ROOT

FOLDERS = ("grader", "instructor", "solution", "starter", "checkpoint", "data")
# records the new exercise alone, which takes seconds, and grades each variant of it
PROGRAM = """
import dataclasses, json, sys
from pathlib import Path
from grader.assignment import MINBERT
from grader.grading import Grading
from grader.settings import CHECKPOINT, Settings
from instructor.references.course import minbert
from instructor.references.record import record
from instructor.references.variants import apply

one = dataclasses.replace(MINBERT, exercises=(MINBERT.exercise("doubled"),))
course = minbert()
own = tuple(variant for variant in course.variants if variant.exercise == "doubled")
course = dataclasses.replace(course, assignment=one, variants=own, honest=())
out = Path("recorded")
record(course, out, 7, False, CHECKPOINT)
grading = Grading(Settings(references=out), one)
solution = Path("solution/transformer.py").read_text()
found = {name: grading.grade(name).as_json() for name in ("solution", "starter")}
for variant in own:
    handed_in = Path("handed_in")
    handed_in.mkdir(exist_ok=True)
    (handed_in / "bert.py").write_text(Path("solution/bert.py").read_text())
    (handed_in / "transformer.py").write_text(apply(variant, solution))
    found[variant.id] = grading.grade("handed_in").as_json()
json.dump({name: made["exercises"][0] for name, made in found.items()}, sys.stdout)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this repository with a new exercise, doubled."""
    root = tmp_path_factory.mktemp("checkout")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("handout.md", "requirements.txt"):
        shutil.copy(ROOT / name, root)
    run(root, "-m", "instructor.references.new_exercise", "doubled")
    run(root, "-m", "instructor.references.strip")
    run(root, "-m", "instructor.references.handout")
    return root


def run(root: Path, *arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_skeleton_is_recorded_graded_and_its_mistakes_are_named(checkout: Path) -> None:
    found = json.loads(run(checkout, "-c", PROGRAM))

    assert (found["solution"]["outcome"], found["solution"]["score"]) == ("passed", 4)
    assert found["starter"]["outcome"] == "not written yet"
    assert found["doubled_squared"]["mistake"] == "doubled_squared"
    assert found["doubled_not_doubled"]["mistake"] == "doubled_not_doubled"
    assert "the tensor is squared, not doubled" in found["doubled_squared"]["message"]


def test_the_handout_has_its_block_and_its_row_in_the_table(checkout: Path) -> None:
    text = (checkout / "handout.md").read_text(encoding="utf-8")

    last = [one.id for one in MINBERT.exercises if one.file == "transformer.py"][-1]
    assert text.index(f"### Problem ({last})") < text.index("### Problem (doubled)")
    assert (
        "| [doubled](#problem-doubled-todo-a-title-4-points-about-15-minutes) | 3 | | 1 | 4 |"
        in text
    )


def test_it_touches_four_files() -> None:
    files = skeleton("doubled", "transformer.py", ROOT, MINBERT)

    assert {str(path) for path in files} == {
        "grader/assignment/exercises/doubled.py",
        "instructor/references/variants/doubled.py",
        "solution/transformer.py",
        "handout.md",
    }


def numbered(step: int) -> Assignment:
    """Return the assignment with so much room between the places of two exercises."""
    exercises = enumerate(MINBERT.exercises, start=1)
    made = tuple(dataclasses.replace(one, order=step * n) for n, one in exercises)
    return dataclasses.replace(MINBERT, exercises=made)


def test_it_comes_before_the_exercise_that_is_named() -> None:
    assignment = numbered(10)
    files = skeleton("doubled", "transformer.py", ROOT, assignment, before="causal_mask")
    case, solution, _, handout = files.values()

    ids = [one.id for one in assignment.exercises]
    previous = ids[ids.index("causal_mask") - 1]
    order = assignment.exercise("causal_mask").order - 5
    assert f"order={order}," in case
    for text, what in ((solution, "BEGIN SOLUTION {}\n"), (handout, "### Problem ({})")):
        places = [text.index(what.format(one)) for one in (previous, "doubled", "causal_mask")]
        assert places == sorted(places)
    ast.parse(solution)


def test_where_no_number_is_left_before_an_exercise_it_says_so() -> None:
    with pytest.raises(SkeletonError, match="BEFORE=causal_mask: `order` has no number left"):
        skeleton("doubled", "transformer.py", ROOT, numbered(1), before="causal_mask")


def test_it_cannot_come_before_an_exercise_of_another_file() -> None:
    with pytest.raises(SkeletonError, match="BEFORE=adamw: must be one of the exercises in"):
        skeleton("doubled", "transformer.py", ROOT, MINBERT, before="adamw")


@pytest.mark.parametrize(
    ("name", "file", "says"),
    [
        ("Layer-Norm", "transformer.py", "must be a lower-case Python name"),
        ("class", "transformer.py", "must be a lower-case Python name"),
        ("", "transformer.py", "must be a lower-case Python name"),
        ("attention", "transformer.py", "there is such an exercise already"),
        ("doubled", "bert.py", "must be one of optimizer.py, pretraining.py, transformer.py"),
        ("doubled", "../x.py", "must be one of"),
    ],
)
def test_what_cannot_be_an_exercise_is_refused(name: str, file: str, says: str) -> None:
    with pytest.raises(SkeletonError, match=says):
        skeleton(name, file, ROOT, MINBERT)
