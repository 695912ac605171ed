"""No link among the hand-ins is followed, whatever it is called."""

from pathlib import Path

from downloads import by_student, find, handed_in


def test_a_blackboard_note_behind_a_link_is_not_read(tmp_path: Path) -> None:
    secret = handed_in(tmp_path, "secret") / "secret"
    secret.write_text("Name: Ada (ada)\n", encoding="utf-8")
    folder = handed_in(tmp_path / "in", "P_x_ada_attempt_2026-11-19-10-00-00_bert.py")
    (folder / "P_x_ada_attempt_2026-11-19-10-00-00.txt").symlink_to(secret)

    assert [one.name for one in find(folder)] == ["ada"]
    assert not [one for one in find(folder) if one.name == "Ada"]


def test_a_list_behind_a_link_among_the_hand_ins_is_nobodys_list(tmp_path: Path) -> None:
    own = handed_in(tmp_path / "own", "x/bert.py")
    (own / "submission_metadata.yml").write_text("x:\n", encoding="utf-8")
    folder = handed_in(tmp_path / "in", "ada.py")
    (folder / "submission_metadata.yml").symlink_to(own / "submission_metadata.yml")
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone/export").symlink_to(own)

    assert sorted(by_student(find(folder))) == ["ada", "submission_metadata.yml"]
    assert [one.path for one in find(tmp_path / "alone")] == [None]


def test_a_link_to_the_roster_hides_nobodys_hand_in(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("id\nada\n", encoding="utf-8")
    folder = handed_in(tmp_path / "in", "bob.py")
    (folder / "ada.py").symlink_to(tmp_path / "roster.csv")

    found = by_student(find(folder, tmp_path / "roster.csv"))

    assert "link" in found["ada"].fault
