"""A save is noticed as soon as it is made, and nothing else is taken for a save."""

import threading
from contextlib import closing
from pathlib import Path

import pytest

from packing import EDITABLE
from tensormark.intake.saves import Saves
from watching import LONG


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "main.py").write_text("x = 0\n", encoding="utf-8")
    return folder / "main.py"


def test_saving_the_same_text_does_not_start_a_grading_over(path: Path) -> None:
    restarted = threading.Event()
    with closing(Saves(path, EDITABLE, restarted.set)) as saves:
        saves.begin()
        path.write_text("x = 0\n", encoding="utf-8")
        saves.look()
        noticed = saves.saved.is_set()
        path.write_text("x = 1\n", encoding="utf-8")
        saves.look()

    assert not noticed
    assert saves.saved.is_set()
    assert restarted.is_set()


def test_saving_the_same_text_later_is_a_save(path: Path) -> None:
    with closing(Saves(path, EDITABLE, lambda: None)) as saves:
        saves.begin()
        saves.end()
        path.write_text("x = 0\n", encoding="utf-8")
        assert saves.saved.wait(LONG)


def test_a_save_is_noticed_where_times_of_files_do_not_change(path: Path, monkeypatch) -> None:
    monkeypatch.setattr(Saves, "state", lambda _: [])
    with closing(Saves(path, EDITABLE, lambda: None)) as saves:
        path.write_text("x = 1\n", encoding="utf-8")
        assert saves.saved.wait(LONG)


@pytest.mark.parametrize("name", ["main.py", "optimizer.py"])
def test_a_file_that_is_renamed_or_new_is_a_save(path: Path, monkeypatch, name: str) -> None:
    monkeypatch.setattr("tensormark.intake.saves.POLLS", 10**9)
    with closing(Saves(path.parent, EDITABLE, lambda: None)) as saves:
        (path.parent / "new").write_text("x = 1\n", encoding="utf-8")
        (path.parent / "new").rename(path.parent / name)
        assert saves.saved.wait(LONG)


def test_a_file_that_a_link_leads_to_is_watched(path: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("tensormark.intake.saves.POLLS", 10**9)
    link = tmp_path / "link.py"
    link.symlink_to(path)
    with closing(Saves(link, EDITABLE, lambda: None)) as saves:
        path.write_text("x = 1\n", encoding="utf-8")
        assert saves.saved.wait(LONG)
