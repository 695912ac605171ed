"""The skeleton of a new exercise runs as it is written, in any assignment."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from tensormark.authoring.new_exercise import skeleton
from tensormark.usage import UserError
from testkit import toy
from testkit.graded import grader_of
from testkit.resident import called


@pytest.fixture(scope="module")
def copy(folder, tmp_path_factory):
    """A copy of the assignment with a new exercise, doubled."""
    root = tmp_path_factory.mktemp("copy") / "assignment"
    shutil.copytree(folder, root, ignore=shutil.ignore_patterns("__pycache__"))
    written = called(root, "exercise", "doubled").stdout.splitlines()
    assert written[:-1] == [
        "wrote grader/exercises/doubled.py",
        "wrote solution/detector.py",
        "wrote grader/mistakes/doubled.py",
        "wrote handout.md",
    ]
    return root


def test_the_skeleton_is_tried_with_its_mistakes(copy):
    tried = called(copy, "try", "doubled")

    assert (tried.returncode, [" ".join(line.split()) for line in tried.stdout.splitlines()]) == (
        0,
        [
            "solution passed 4/4",
            "starter not written yet 0/4",
            "honest one_window_at_a_time passed 4/4",
            "honest doubled_as_a_sum passed 4/4",
            "mistake doubled_not_doubled failed 0/4 x is returned as it is",
            "mistake doubled_squared failed 0/4 x is squared, not doubled",
        ],
    )


def test_the_other_exercises_are_graded_before_the_new_one_is_recorded(copy, tmp_path):
    graded = grader_of(copy, tmp_path)("solution")

    assert graded.status == 3
    assert graded.outcomes()["conv"] == graded.outcomes()["detector"] == "passed"
    assert graded.exercise("doubled")["score"] is None
    assert "run `tensormark references`" in graded.exercise("doubled")["message"]


def test_the_handout_has_a_block_and_a_row_of_the_new_exercise(copy):
    assert called(copy, "handout").returncode == 0

    text = (copy / "handout.md").read_text("utf-8")
    places = [text.index(f"### Problem ({name})") for name in ("detector", "doubled", "detection")]
    assert places == sorted(places)
    row = "| [doubled](#problem-doubled-todo-a-title-4-points-about-15-minutes) | 3 | 1 | 4 |"
    assert row in text


def test_a_bonus_says_so(assignment):
    files = skeleton(assignment, "doubled", toy.MAIN, bonus=True)

    assert "extension=True," in files[Path("grader/exercises/doubled.py")]


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("Layer-Norm", "more.py", "Layer-Norm: must be a lower-case Python name"),
        ("class", "more.py", "must be a lower-case Python name"),
        ("conv", "more.py", "this exercise already exists"),
        ("doubled", "../x.py", "must be one of more.py"),
        ("doubled", toy.MAIN, "must be one of more.py"),  # which must be handed in
        ("doubled", "more.py", "solution/more.py: there is no such file"),
    ],
)
def test_a_bad_name_or_file_of_an_exercise_is_refused(assignment, name, file, message):
    two_files = dataclasses.replace(assignment, editable=(toy.MAIN, "more.py"))

    with pytest.raises(UserError, match=message):
        skeleton(two_files, name, file, bonus=True)
