"""The skeleton of a new exercise runs as it is written, in any assignment."""

import ast
import dataclasses
import shutil
import subprocess
from pathlib import Path

import pytest

import toy
from graded import grader_of
from resident import called
from tensormark.authoring.new_exercise import hole, skeleton
from tensormark.exercise import Assignment
from tensormark.folder import open_assignment
from tensormark.usage import UserError


def run(root: Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    completed = called(root, *words)
    assert completed.returncode == status, completed.stderr
    return completed


@pytest.fixture(scope="module")
def copy(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the assignment with a new exercise, doubled."""
    root = tmp_path_factory.mktemp("copy") / "assignment"
    shutil.copytree(folder, root, ignore=shutil.ignore_patterns("__pycache__"))
    run(root, "exercise", "doubled")
    return root


def test_the_command_names_what_it_wrote_and_what_is_next(copy: Path) -> None:
    output = run(copy, "exercise", "tripled").stdout

    assert output.splitlines() == [
        "wrote grader/exercises/tripled.py",
        "wrote solution/detector.py",
        "wrote grader/mistakes/tripled.py",
        "wrote handout.md",
        "next: `tensormark try tripled`, while you write; then `tensormark starter`, "
        "`tensormark references`, `tensormark handout`",
    ]


def test_the_skeleton_is_recorded_graded_and_its_mistakes_are_named(copy: Path) -> None:
    lines = run(copy, "try", "doubled").stdout.splitlines()

    words = {line[2:42].strip(): " ".join(line[42:].split()) for line in lines}
    assert words["solution"] == words["honest doubled_as_a_sum"] == "passed 4/4"
    assert words["starter"] == "not written yet 0/4"
    assert words["mistake doubled_squared"] == "failed 0/4 the tensor is squared, not doubled"
    assert words["mistake doubled_not_doubled"] == "failed 0/4 the tensor is returned as it is"
    assert {line[:2] for line in lines} == {"  "}


def test_an_exercise_that_does_not_exist_cannot_be_tried(copy: Path) -> None:
    error = run(copy, "try", "nothing", status=2).stderr

    assert error == "try: nothing: there is no such exercise\n"


def test_a_mistake_that_costs_no_points_is_marked(copy: Path) -> None:
    path = copy / "grader" / "mistakes" / "doubled.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("return x * x", "return x * 2.0"), encoding="utf-8")

    try:
        output = run(copy, "try", "doubled", status=1).stdout
    finally:
        path.write_text(text, encoding="utf-8")

    assert [line.split()[2:] for line in output.splitlines() if line.startswith("!")] == [
        "doubled_squared passed 4/4 it costs no points of doubled: no probe detects it".split()
    ]


def test_the_other_exercises_are_graded_before_the_new_one_is_recorded(
    copy: Path, tmp_path: Path
) -> None:
    graded = grader_of(copy, tmp_path)("solution")

    assert graded.status == 3
    assert graded.outcomes()["conv"] == graded.outcomes()["detector"] == "passed"
    assert graded.exercise("doubled")["score"] is None
    assert "run `tensormark references`" in graded.exercise("doubled")["message"]


def test_the_handout_has_a_block_and_a_row_of_the_new_exercise(copy: Path) -> None:
    run(copy, "handout")

    text = (copy / "handout.md").read_text(encoding="utf-8")
    places = [
        text.index(f"### Problem ({exercise})") for exercise in ("detector", "doubled", "detection")
    ]
    assert places == sorted(places)
    row = "| [doubled](#problem-doubled-todo-a-title-4-points-about-15-minutes) | 3 | | 1 | 4 |"
    assert row in text
    assert "**Run**. `tensormark check --only doubled`" in text


def test_the_skeleton_is_a_bonus_if_that_is_asked_for(assignment: Assignment) -> None:
    plain = skeleton(assignment, "doubled", toy.MAIN)
    bonus = skeleton(assignment, "doubled", toy.MAIN, bonus=True)

    case = Path("grader/exercises/doubled.py")
    assert "extension" not in plain[case]
    assert "extension=True," in bonus[case]
    ast.parse(bonus[case])


def test_a_bonus_has_a_file_that_need_not_be_handed_in(assignment: Assignment) -> None:
    two_files = dataclasses.replace(assignment, editable=(toy.MAIN, "more.py"))

    with pytest.raises(UserError, match=r"--file detector.py: must be one of more.py"):
        skeleton(two_files, "doubled", toy.MAIN, bonus=True)


@pytest.mark.parametrize(
    ("source", "head"),
    [
        ("import torch\n", "def f(x: torch.Tensor) -> torch.Tensor:"),
        ("from torch import Tensor, nn\n", "def f(x: Tensor) -> Tensor:"),
        ("from torch import nn\n", "def f(x):"),
    ],
)
def test_annotations_of_the_skeleton_are_names_that_the_file_has(source: str, head: str) -> None:
    assert hole("f", source).startswith(head)


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("Layer-Norm", toy.MAIN, "Layer-Norm: must be a lower-case Python name"),
        ("class", toy.MAIN, "must be a lower-case Python name"),
        ("", toy.MAIN, "must be a lower-case Python name"),
        ("conv", toy.MAIN, "this exercise already exists"),
        ("doubled", "../x.py", "must be one of detector.py"),
    ],
)
def test_a_bad_name_or_file_of_an_exercise_is_refused(
    assignment: Assignment, name: str, file: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        skeleton(assignment, name, file)


def test_an_unfinished_exercise_is_named_by_every_command(copy: Path) -> None:
    path = copy / "grader" / "exercises" / "doubled.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("EXERCISE = exercise(", "EXERCISE = ("), encoding="utf-8")

    try:
        error = run(copy, "check", "solution", status=2).stderr
    finally:
        path.write_text(text, encoding="utf-8")

    assert error.startswith("check: ")
    assert "doubled.py" in error
    assert "Traceback" not in error
    open_assignment(copy)
