"""A new assignment is whole, runs as it is, and nothing is overwritten by it."""

import os
import subprocess
from pathlib import Path

import pytest

from tensormark.authoring import new
from tensormark.folder import open_assignment

import toy
from graded import grader_of
from resident import called


def begin(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    return called(folder, "new", name)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A new assignment, and what the command said."""
    place = tmp_path_factory.mktemp("new")
    done = begin(place, "Signals 2")
    assert done.returncode == 0, done.stderr
    return place / "Signals 2", done.stdout


def test_it_is_the_template_with_its_name(made: tuple[Path, str]) -> None:
    folder, _ = made

    for path in toy.TEMPLATE.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            text = path.read_text("utf-8")
            text = text.replace('name="Detector"', 'name="Signals 2"')
            text = text.replace("# Detector\n", "# Signals 2\n")
            assert (folder / path.relative_to(toy.TEMPLATE)).read_text("utf-8") == text
    assert open_assignment(folder).name == "Signals 2"


def test_it_says_what_is_next(made: tuple[Path, str]) -> None:
    _, said = made

    assert [line.strip().split("  ")[0] for line in said.split("next: ")[1].splitlines()] == [
        "cd 'Signals 2'",
        "tensormark check solution",
        "pytest --assignment .",
        "tensormark exercise NAME",
    ]


def test_it_is_graded_as_it_is(made: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = made

    graded = grader_of(folder, tmp_path)("solution", training=True)

    assert (graded.result["score"], graded.result["max_score"]) == (100, 100)
    assert graded.result["assignment"] == "Signals 2"


def test_what_is_there_stays(made: tuple[Path, str]) -> None:
    folder, _ = made
    mine = folder / "solution" / toy.MAIN
    before = mine.stat().st_mtime_ns

    done = begin(folder.parent, folder.name)

    assert done.returncode == 2
    assert done.stderr == f"new: {folder.name}: already exists; remove it, or name another folder\n"
    assert mine.stat().st_mtime_ns == before


def test_a_folder_without_a_file_is_filled(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    new.write(tmp_path / "empty")

    assert (tmp_path / "empty" / "grader" / "assignment.py").is_file()


@pytest.mark.parametrize("name", [".", "..", "", 'a"b', "a\nb", "-x", "x" * 80])
def test_a_name_that_no_folder_should_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(new.NameFault, match="use letters"):
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
