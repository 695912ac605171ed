"""Which grader and assignment a machine has: files that decide a grade count, and no others."""

import shutil
from pathlib import Path

import pytest

from tensormark.classroom import version
from tensormark.classroom.cluster import connect
from tensormark.classroom.version import NO_ASSIGNMENT, about, code, unfit, versions
from tensormark.folder import VARIABLE, here

from conftest import ROOT

DECIDE = [
    *("grader/assignment.py", "grader/exercises/one.py", "solution/main.py", "starter/main.py"),
    *("handout.md", "handout/more.md", "requirements.txt"),
]
DO_NOT = ["grader/mistakes/one.py", "grader/honest/one.py", "grader/staff.py", "README.md", "x.py"]


@pytest.fixture
def assignment(tmp_path: Path) -> Path:
    """An assignment whose files are empty."""
    for name in (*DECIDE, *DO_NOT):
        path = tmp_path / "assignment" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "assignment"


def changes_the_code(assignment: Path, path: Path) -> bool:
    """Change a file of the engine or of an assignment; say whether the code is another one."""
    code.cache_clear()
    before = code(assignment)
    path.write_text("# changed\n", encoding="utf-8")
    code.cache_clear()
    return code(assignment) != before


@pytest.mark.parametrize("name", [*DECIDE, *DO_NOT])
def test_the_assignments_files_that_decide_a_grade_count(assignment: Path, name: str) -> None:
    assert changes_the_code(assignment, assignment / name) == (name in DECIDE)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("worker/calls.py", True),
        ("judging/compare.py", True),
        ("grading.py", True),
        ("classroom/parcel.py", True),
        ("classroom/page.py", False),
        ("authoring/record.py", False),
    ],
)
def test_the_engines_files_that_decide_a_grade_count(
    assignment: Path, name: str, counts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "engine"
    shutil.copytree(version.ENGINE, copy)
    monkeypatch.setattr(version, "ENGINE", copy)

    assert changes_the_code(assignment, copy / name) == counts


def test_a_copy_elsewhere_has_the_same_code(assignment: Path, tmp_path: Path) -> None:
    shutil.copytree(assignment, tmp_path / "copy")

    assert code(tmp_path / "copy") == code(assignment)


def test_packages_that_submissions_may_use_count_if_they_are_installed(assignment: Path) -> None:
    before = versions(assignment)
    text = "tqdm>=4  # bars\nno-such-package==1\n"
    (assignment / "requirements.txt").write_text(text, encoding="utf-8")

    assert versions(assignment).keys() - before.keys() == {"tqdm"}
    assert before.keys() == {"Python", "torch", "numpy", "safetensors"}


def test_a_worker_may_grade_only_with_the_same_code_and_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, str(ROOT))
    description, required = about(), (code(ROOT), versions(ROOT))

    assert unfit(description, *required) == ""
    assert "different grader code" in unfit(description | {"code": "x"}, *required)
    older = description["versions"] | {"torch": "1.0"}
    assert unfit(description | {"versions": older}, *required).startswith("it has torch 1.0, not")


def test_a_worker_without_an_assignment_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)

    assert unfit(about(), code(ROOT), versions(ROOT)) == NO_ASSIGNMENT


def test_workers_on_this_machine_grade_the_assignment_that_was_named(
    assignment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(ROOT))
    monkeypatch.chdir(tmp_path)

    with connect("", 1, assignment) as client:
        folders = client.run(here)

    assert list(folders.values()) == [assignment]
