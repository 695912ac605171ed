"""A new assignment is complete, and creating it overwrites nothing; test_installed.py runs one."""

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from tensormark.authoring import new
from tensormark.cli import run
from tensormark.usage import UserError
from testkit import toy
from testkit.graded import files_in
from testkit.resident import called


def test_a_new_assignment_is_complete_and_never_overwritten(tmp_path):
    folder = tmp_path / "Signals 2"
    (tmp_path / "Signals 2").mkdir()  # an empty folder is filled

    created = called(tmp_path, "new", folder.name)
    before = files_in(folder)
    again = called(tmp_path, "new", folder.name)

    assert created.returncode == 0
    assert "next: cd 'Signals 2'\n" in created.stdout
    engine = version("tensormark").rpartition(".")[0]
    assert f'    engine="{engine}",\n' in (folder / "grader/assignment.py").read_text("utf-8")
    assert (folder / "handout.md").read_text("utf-8").startswith(f"# {folder.name}\n")
    assert {path.name for path in toy.TEMPLATE.iterdir()} <= set(os.listdir(folder))
    assert again.returncode == 2
    assert "already exists" in again.stderr
    assert files_in(folder) == before


@pytest.mark.parametrize("name", [".", "", 'a"b', "a\nb", "-x", "x" * 80])
def test_a_name_that_no_folder_should_have_is_refused(tmp_path, name):
    with pytest.raises(UserError, match="use letters"):
        new.write(tmp_path / "place" / name if name.strip(".") else Path(name))
    assert os.listdir(tmp_path) == []


def test_an_assignment_whose_files_cannot_all_be_derived_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(new.record, "main", lambda *_: 2)
    path = tmp_path / "mine"

    assert run(tmp_path, "new", [str(path)]) == 2

    assert capsys.readouterr().err == f"new: {path} was written, but not all derived files\n"
