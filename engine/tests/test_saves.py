"""A save is noticed as soon as it is made, and nothing else is taken for a save."""

import threading
from contextlib import closing

import pytest

from tensormark.intake.saves import Saves
from testkit.packing import EDITABLE
from testkit.watching import LONG


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "main.py").write_text("x = 0\n", "utf-8")
    return folder / "main.py"


def test_only_another_text_starts_a_grading_over(path):
    restarted = threading.Event()
    with closing(Saves(path, EDITABLE, restarted.set)) as saves:
        saves.begin()
        path.write_text("x = 0\n", "utf-8")
        saves.look()
        noticed = saves.saved.is_set()
        path.write_text("x = 1\n", "utf-8")
        saves.look()
        assert (noticed, saves.saved.is_set(), restarted.is_set()) == (False, True, True)


def test_saving_the_same_text_later_is_a_save(path):
    with closing(Saves(path, EDITABLE, lambda: None)) as saves:
        saves.begin()
        saves.end()
        path.write_text("x = 0\n", "utf-8")
        assert saves.saved.wait(LONG)


def test_a_save_is_noticed_where_times_of_files_do_not_change(path, monkeypatch):
    monkeypatch.setattr(Saves, "state", lambda _: [])
    with closing(Saves(path, EDITABLE, lambda: None)) as saves:
        path.write_text("x = 1\n", "utf-8")
        assert saves.saved.wait(LONG)


@pytest.mark.parametrize("name", ["main.py", "optimizer.py", "link.py"])
def test_a_renamed_or_new_file_is_a_save_and_so_is_one_that_a_link_leads_to(
    path, tmp_path, monkeypatch, name
):
    monkeypatch.setattr("tensormark.intake.saves.POLLS", 10**9)
    watched = path.parent
    if name == "link.py":
        watched = tmp_path / name
        watched.symlink_to(path)
    with closing(Saves(watched, EDITABLE, lambda: None)) as saves:
        (path.parent / "new").write_text("x = 1\n", "utf-8")
        (path.parent / "new").rename(path if watched.is_symlink() else path.with_name(name))
        assert saves.saved.wait(LONG)
