"""Who handed in what, if a roster says who is in the class and in its teams."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import odd_class
import pytest

from tensormark.classroom import standing
from tensormark.classroom.appeal import appeal
from tensormark.classroom.entry import Entry
from tensormark.intake.submission import SubmissionError

from downloads import DEADLINE, by_student, class_of, error, find, handed_in, listed, names

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

    hand_ins = find(folder, roster)

    assert [hand_in.student for hand_in in hand_ins] == ["12345", "222", "333", "nobody"]
    assert [hand_in.path is None for hand_in in hand_ins] == [False, True, True, False]
    assert hand_ins[0].name == "Ada Lovelace"
    assert hand_ins[0].keys == ("12345", "al", "ada@x.example")
    assert hand_ins[3].notes == ("not on the roster",)


def test_a_roster_may_name_files_and_times(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "in", "x1.py", "x2.py")
    roster = tmp_path / "roster.csv"
    text = "student,file,submitted\nada,x2.py,2026-11-20T23:00:01Z\ngrace,,\n"
    roster.write_text(text, encoding="utf-8")

    hand_ins = by_student(find(folder, roster, DEADLINE))

    assert names(hand_ins["ada"]) == ["x2.py"]
    assert hand_ins["ada"].minutes_late == 1
    assert hand_ins["grace"].path is None
    assert "x1" in hand_ins


@pytest.mark.parametrize(
    ("text", "complaint"),
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
def test_a_wrong_roster_is_refused_in_one_sentence(
    tmp_path: Path, text: str, complaint: str
) -> None:
    folder = handed_in(tmp_path / "in", "ada.py")
    (folder / "link.py").symlink_to("ada.py")
    (folder / "link").symlink_to(".")
    roster = tmp_path / "roster.csv"
    roster.write_text(text, encoding="utf-8")

    message = error(folder, roster=roster)

    assert complaint in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["12345", "al", "ADA@x.example", "Ada Lovelace", "lovelaceada"])
def test_a_student_to_grade_again_may_be_named_in_any_clear_way(tmp_path: Path, name: str) -> None:
    folder = handed_in(tmp_path / "in", "al.py", "Wei Zhang.py", "wei zhang.py")
    roster = tmp_path / "roster.csv"
    roster.write_text(ROSTER, encoding="utf-8")
    students = class_of(folder, roster)

    entry = students.find(name)

    assert entry is not None
    assert entry.hand_in.student == "12345"
    assert students.find("zhang wei") is None
    assert students.find("nobody") is None


def make_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(33 << 20)


@pytest.mark.parametrize(
    ("make", "complaint"), [(os.mkfifo, "is not a file"), (make_large, "too large for a roster")]
)
def test_a_pipe_is_not_waited_for_and_a_huge_file_not_read(
    tmp_path: Path, make: Callable[[Path], None], complaint: str
) -> None:
    folder = handed_in(tmp_path / "in", "ada.py")
    make(tmp_path / "roster.csv")

    assert complaint in error(folder, roster=tmp_path / "roster.csv")


WORKSHEET = """Identifier,Full name,Grade,Last modified (submission),Last modified (grade)
Participant 1,Ada Lovelace,,"Friday, 20 November 2026, 11:00 PM",-
Participant 2,Grace Hopper,,"Saturday, November 21, 2026, 12:01 AM",-
Participant 3,Alan Turing,,"Freitag, 20. November 2026, 23:00",-
Participant 4,Emmy Noether,,-,-
"""


def test_moodles_worksheet_says_when_something_was_handed_in(tmp_path: Path) -> None:
    names = ("Ada Lovelace_1", "Grace Hopper_2", "Alan Turing_3")
    folder = handed_in(tmp_path / "in", *(f"{n}_assignsubmission_file_/bert.py" for n in names))
    (tmp_path / "worksheet.csv").write_text(WORKSHEET, encoding="utf-8")

    hand_ins = find(folder, tmp_path / "worksheet.csv", DEADLINE.replace(tzinfo=None))

    assert [hand_in.minutes_late for hand_in in hand_ins] == [0, 61, None, None]
    note = "Moodle's worksheet gives an unreadable time of submission: "
    assert hand_ins[2].notes == (f"{note}Freitag, 20. November 2026, 23:00",)
    assert hand_ins[3].notes == ()
    kinds = standing.by_kind([Entry(hand_in) for hand_in in hand_ins])
    assert [*standing.listed(kinds)][-1] == f"  {note}Participant 3 (Alan Turing)"


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("2026-11-20T23:01", 1),
        ("2026-11-20 23:01", 1),
        ("2026-11-20T23:00:01", 1),
        ("2026-11-20 23:00:00", 0),
        ("2026-11-20", 60),
    ],
)
def test_a_time_in_a_roster_may_have_the_forms_of_a_deadline(
    tmp_path: Path, text: str, minutes: int
) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text(f"id,submitted\nada,{text}\n", encoding="utf-8")

    (ada,) = find(handed_in(tmp_path / "in", "ada.py"), roster, DEADLINE.replace(tzinfo=None))

    assert ada.minutes_late == minutes


def test_a_student_who_is_not_in_the_canvas_export_is_reported_and_not_matched_by_name(
    tmp_path: Path,
) -> None:
    roster = tmp_path / "export.csv"
    roster.write_text("Student,ID,SIS Login ID,Section\nAda,1,al,A\n", encoding="utf-8")

    ada, stranger = find(handed_in(tmp_path / "in", "ada_999_11_bert.py"), roster)

    assert ada.path is None
    assert stranger.notes == ("not in the Canvas export",)
    assert not stranger.known
    kinds = standing.by_kind([Entry(stranger)])
    assert "  not in the Canvas export: 999 (ada)" in standing.listed(kinds)


def test_an_ambiguous_or_unknown_student_to_grade_again_is_an_error(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "in", "Wei Zhang.py", "wei zhang.py")
    run = SimpleNamespace(students=class_of(folder))

    with pytest.raises(SubmissionError, match="zhang wei: matches several students"):
        appeal(run, "zhang wei")
    with pytest.raises(SubmissionError, match="nobody: there is no such student"):
        appeal(run, "nobody")


TEAMS = "id,name,team\n1,Ada,Team One\n2,Bob,Team One\n3,Cy,team-two\n4,Team One,\n5,Eve,\n"


def test_a_team_with_the_name_of_a_student_is_left_for_a_person_to_decide(tmp_path: Path) -> None:
    hand_ins = listed(tmp_path, TEAMS, "team one.zip")

    assert "team Team One or 4 (Team One)" in hand_ins["team one.zip"].fault
    assert not any(hand_in.path for hand_in in hand_ins.values())


def test_the_name_of_a_student_is_not_taken_for_a_canvas_team(tmp_path: Path) -> None:
    roster = odd_class.groups(
        tmp_path / "groups.csv",
        [odd_class.Member(n, name, team) for n, name, team in [
            (1, "Lovelace, Ada", "Crew"), (2, "Hopper, Grace", "Crew"), (3, "Crew", ""),
        ]],
    )  # fmt: skip
    folder = handed_in(tmp_path / "in", "crew_10003_5_bert.py", "crew_10001_6_bert.py")

    hand_ins = by_student(find(folder, roster))

    assert names(hand_ins["10001"]) == names(hand_ins["10002"]) == ["crew_10001_6_bert.py"]
    assert names(hand_ins["10003"]) == ["crew_10003_5_bert.py"]


def test_a_team_has_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(TEAMS.replace("4,Team One", "4,X"), encoding="utf-8")
    folder = handed_in(
        tmp_path / "in",
        "Team One_9_assignsubmission_file_bert.py",
        "Team One_9_assignsubmission_file_optimizer.py",
    )

    hand_ins = by_student(find(folder, tmp_path / "roster.csv"))

    assert hand_ins["1"].parts == hand_ins["2"].parts
    assert [part.name for part in hand_ins["1"].parts] == ["bert.py", "optimizer.py"]
