"""Who handed in what, if a roster says who is in the class."""

import datetime
import os
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.classroom import standing
from tensormark.classroom.store import Store
from tensormark.intake.given_files import GivenFiles

from downloads import by_student, error, find, handed_in, names

DEADLINE = datetime.datetime(2026, 11, 20, 23, 0, tzinfo=datetime.UTC)

ROSTER = "\ufeffid,login,name,email\r\n12345,al,Ada Lovelace,ada@x.example\r\n"
ROSTER += '222,gh,"Hopper, Grace",grace@x.example\r\n333,at,Alan Turing,alan@x.example\r\n'


@pytest.mark.parametrize(
    "file",
    [
        "whoever_12345_678_bert.py",
        "al.py",
        "ada@x.example.zip",
        "Lovelace Ada_9_assignsubmission_file_/bert.py",
        "lovelaceada_999_678_bert.py",
        "Ada  LOVELACE/bert.py",
    ],
)
def test_a_roster_is_matched_by_id_login_address_or_name(tmp_path: Path, file: str) -> None:
    folder = handed_in(tmp_path, file, "nobody.py")
    roster = folder / "roster.csv"
    roster.write_text(ROSTER, encoding="utf-8")

    found = find(folder, roster)

    assert [one.student for one in found] == ["12345", "222", "333", "nobody"]
    assert [one.path is None for one in found] == [False, True, True, False]
    assert found[0].name == "Ada Lovelace"
    assert found[0].keys == ("12345", "al", "ada@x.example")
    assert found[3].notes == ("not on the roster",)


def test_a_roster_may_name_files_and_times(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "in", "x1.py", "x2.py")
    roster = tmp_path / "roster.csv"
    text = "student,file,submitted\nada,x2.py,2026-11-20T23:00:01Z\ngrace,,\n"
    roster.write_text(text, encoding="utf-8")

    found = by_student(find(folder, roster, DEADLINE))

    assert names(found["ada"]) == ["x2.py"]
    assert found["ada"].minutes_late == 1
    assert found["grace"].path is None
    assert "x1" in found


def test_canvass_own_export_is_a_roster(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "in", "lovelaceada_12345_678_bert.py")
    roster = tmp_path / "roster.csv"
    text = "Student,ID,SIS User ID,SIS Login ID,Section,Project (9)\n    Points Possible,,,,,100\n"
    text += '"Lovelace, Ada",12345,s1,al,A,\n"Student, Test",1,,x,A,\n'
    roster.write_text(text, encoding="utf-8")

    assert [(one.student, one.name) for one in find(folder, roster)] == [("12345", "Lovelace, Ada")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "its first line names none of the columns"),
        ("colour,shape\n1,2\n", "its first line names none of the columns"),
        ("id\n1\n1\n", "row 3: '1' is listed twice"),
        ("id,submitted\n1,yesterday\n", "row 2: 'yesterday' is not a time"),
        ("id,file\n1,../../etc/passwd\n", "is not in"),
        ("id,file\n1,/etc/passwd\n", "is not in"),
        ("id,file\n1,link.py\n", "is a link"),
        ("id,file\n1,link/bert.py\n", "is a link"),
        ('id,name\n1,"Ada\n2,Grace\n', "line 3: not a CSV file"),
        ('id,name\n1,"Ada" L.\n2,Grace\n', "line 2: not a CSV file"),
    ],
)
def test_a_wrong_roster_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    folder = handed_in(tmp_path / "in", "ada.py")
    (folder / "link.py").symlink_to("ada.py")
    (folder / "link").symlink_to(".")
    roster = tmp_path / "roster.csv"
    roster.write_text(text, encoding="utf-8")

    message = error(folder, roster=roster)

    assert said in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["12345", "al", "ADA@x.example", "Ada Lovelace", "lovelaceada"])
def test_a_student_to_grade_again_may_be_named_in_any_clear_way(tmp_path: Path, name: str) -> None:
    folder = handed_in(tmp_path / "in", "al.py", "Wei Zhang.py", "wei zhang.py")
    roster = tmp_path / "roster.csv"
    roster.write_text(ROSTER, encoding="utf-8")
    with Store(tmp_path / "store") as store:
        whole = standing.Class(find(folder, roster), GivenFiles(ASSIGNMENT, {}), store)

    found = whole.find(name)

    assert found is not None
    assert found.hand_in.student == "12345"
    assert whole.find("zhang wei") is None
    assert whole.find("nobody") is None


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "in", "ada.py")
    os.mkfifo(tmp_path / "roster.csv")

    assert "is not a file" in error(folder, roster=tmp_path / "roster.csv")
