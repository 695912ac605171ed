"""A new assignment is complete and runs as it is; creating it overwrites nothing."""

import os
from pathlib import Path

import pytest

import toy
from graded import grader_of
from resident import called
from tensormark.authoring import new
from tensormark.cli import run
from tensormark.folder import open_assignment
from tensormark.usage import UserError


@pytest.fixture(scope="module")
def new_assignment(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A new assignment, and what the command printed."""
    place = tmp_path_factory.mktemp("new")
    completed = called(place, "new", "Signals 2")
    assert completed.returncode == 0, completed.stderr
    return place / "Signals 2", completed.stdout


def test_a_new_assignment_is_the_template_with_its_name(new_assignment: tuple[Path, str]) -> None:
    folder, _ = new_assignment

    for path in toy.TEMPLATE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            text = path.read_text("utf-8")
            text = text.replace('name="Detector"', 'name="Signals 2"')
            text = text.replace("# Detector\n", "# Signals 2\n")
            assert (folder / path.relative_to(toy.TEMPLATE)).read_text("utf-8") == text
    assert open_assignment(folder).name == "Signals 2"


def test_the_command_prints_the_next_steps(new_assignment: tuple[Path, str]) -> None:
    _, output = new_assignment

    assert [line.strip().split("  ")[0] for line in output.split("next: ")[1].splitlines()] == [
        "cd 'Signals 2'",
        "tensormark check solution",
        "pytest --assignment .",
        "tensormark exercise NAME",
    ]


def test_a_new_assignment_is_graded_as_it_is(
    new_assignment: tuple[Path, str], tmp_path: Path
) -> None:
    folder, _ = new_assignment

    graded = grader_of(folder, tmp_path)("solution", training=True)

    assert (graded.result["score"], graded.result["max_score"]) == (100, 100)
    assert graded.result["assignment"] == "Signals 2"


def test_an_assignment_that_exists_is_not_overwritten(new_assignment: tuple[Path, str]) -> None:
    folder, _ = new_assignment
    mine = folder / "solution" / toy.MAIN
    before = mine.stat().st_mtime_ns

    completed = called(folder.parent, "new", folder.name)

    assert completed.returncode == 2
    assert (
        completed.stderr
        == f"new: {folder.name}: already exists; remove it, or name another folder\n"
    )
    assert mine.stat().st_mtime_ns == before


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    new.write(tmp_path / "empty")

    assert (tmp_path / "empty" / "grader" / "assignment.py").is_file()


@pytest.mark.parametrize("name", [".", "..", "", 'a"b', "a\nb", "-x", "x" * 80])
def test_a_name_that_no_folder_should_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="use letters"):
        new.write(tmp_path / "place" / name if name.strip(".") else Path(name))
    assert os.listdir(tmp_path) == []


def test_a_template_that_breaks_off_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str):
        yield "handout.md", "half"
        raise OSError("the disk is full")

    monkeypatch.setattr(new, "files", broken)

    with pytest.raises(OSError, match="the disk is full"):
        new.write(tmp_path / "mine")
    assert os.listdir(tmp_path) == []


def test_an_assignment_whose_files_cannot_all_be_derived_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> int:
        raise OSError("the disk is full")

    monkeypatch.setattr(new.record, "main", full)
    path = tmp_path / "mine"

    assert run(tmp_path, "new", [str(path)]) == 2

    fault = f"new: {path} was written, but not all derived files\nnew: the disk is full\n"
    assert capsys.readouterr().err == fault
