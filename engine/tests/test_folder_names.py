"""Students' names: which belong to the same student, and what their folders are called."""

from pathlib import Path

from tensormark.classroom.reports.feedback import folder_names, key
from tensormark.classroom.students.people import forms

from test_payloads import PAYLOADS


def test_ways_to_write_one_name_share_a_form() -> None:
    assert forms("Lovelace, Ada") & forms("Ada Lovelace") & forms("lovelaceada")
    assert forms("Zoë Ångström") & forms("angstromzoe")
    assert not forms("!?")


HOSTILE = [
    *PAYLOADS,
    *("..", ".", "", "../../etc", "a/b", "a\\b", "CON", "nul.txt", "com1", ".hidden", "-rf", "~"),
    *("ada", "Ada", "ADA", "\uff21da", "e\u0301", "\u00e9", "x" * 300, "\U0001f600", "a ", " a"),
]


def test_every_name_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = folder_names([*HOSTILE, *HOSTILE])

    assert len(set(map(key, folders))) == len(folders)
    for name in folders:
        (tmp_path / name).mkdir()
        assert (tmp_path / name).resolve().parent == tmp_path.resolve()
        assert name[0] not in ".-~ "
        assert name.partition(".")[0].lower() not in ("con", "nul", "com1")
        assert len(name.encode()) < 250


def test_a_students_folder_is_the_same_in_another_class() -> None:
    assert folder_names(["12345", "ada@x.example", "Ada L."])[:2] == ["12345", "ada@x.example"]
    assert folder_names(["Ada L."])[0] == folder_names(["z", "Ada L.", "../x"])[1]
