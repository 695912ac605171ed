"""The skeleton of a new exercise runs as it is written."""

import ast
import dataclasses
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
    run(root, "-m", "instructor.references.new_exercise", "doubled")
    run(root, "-m", "instructor.references.strip")
    run(root, "-m", "instructor.references.handout")
    return root


def run(root: Path, *arguments: str, status: int = 0) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_skeleton_is_recorded_graded_and_its_mistakes_are_named(checkout: Path) -> None:
    lines = run(checkout, "-m", "instructor.references.try_exercise", "doubled").splitlines()

    words = {line[2:42].strip(): " ".join(line[42:].split()) for line in lines}
    assert words["solution"] == words["honest doubled_as_a_sum"] == "passed 4/4"
    assert words["starter"] == "not written yet 0/4"
    assert words["mistake doubled_squared"] == "failed 0/4 the tensor is squared, not doubled"
    assert words["mistake doubled_not_doubled"] == "failed 0/4 the tensor is returned as it is"
    assert {line[:2] for line in lines} == {"  "}


@pytest.mark.slow
def test_a_mistake_that_is_none_is_marked(checkout: Path) -> None:
    variants = checkout / "instructor" / "references" / "variants" / "doubled.py"
    text = variants.read_text(encoding="utf-8")
    variants.write_text(text.replace("return x * x", "return x * 2.0"), encoding="utf-8")

    try:
        said = run(checkout, "-m", "instructor.references.try_exercise", "doubled", status=1)
    finally:
        variants.write_text(text, encoding="utf-8")

    assert [line.split()[2:] for line in said.splitlines() if line.startswith("!")] == [
        ["doubled_squared", "passed", "4/4"]
    ]


def test_what_is_no_exercise_cannot_be_tried() -> None:
    command = [sys.executable, "-m", "instructor.references.try_exercise", "nothing"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert done.stderr == "try: ID=nothing: there is no exercise of this name that has probes\n"


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
