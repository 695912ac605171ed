"""The name of a student, or of a file, never changes what belongs to somebody else."""

import datetime
import os
from pathlib import Path

import pytest

from downloads import by_student, find, handed_in, listed, names

EXPORT = """Student,ID,SIS User ID,SIS Login ID,Section,minBERT (8)
    Points Possible,,,,,100
"Lovelace, Ada",12345,s1,ada,A,
"Smith, Mallory",777,s2,mal,A,
"Hopper, Grace",888,s3,gh,A,
"Student, Test",1,,x,A,
"""
ADA = "lovelaceada_12345_678_bert.py"
WIDE = "\uff11\uff12\uff13\uff14\uff15"
ADAS = {"12345": [0], "777": [], "888": []}  # who, of those on the list, handed in what

# each case: the class list, the files, and the places of each student's files, the graded one first
WHOSE: dict[str, tuple[str, list[str], dict[str, list[int]]]] = {
    **{
        f"letters lost: {name!a}": (EXPORT, [f"{name}_12345_678_bert.py"], ADAS)
        for name in ("jos\udce9", "jos\u251c\u2310", "jose\u0301")
    },
    "which of several numbers is an id": (
        EXPORT,
        ["lovelaceada_12345_678_9_bert.py", "smithmallory_777_1_lab_2_3_x.py"],
        ADAS | {"777": [1]},
    ),
    **{
        f"an id in other digits: {digits!a}": (
            EXPORT,
            [ADA, f"smithmallory_{digits}_\uff16_x_777_999_bert.py"],
            ADAS | {"777": [1]},
        )
        for digits in (WIDE, "\u0661\u0662\u0663\u0664\u0665", "012345", "12345\u00b2")
    },
    **{
        f"a row with an id in other digits: {digits!a}": (
            EXPORT.replace(",gh,", f",{digits},").replace("s3", "12345"),
            [ADA],
            ADAS,
        )
        for digits in (WIDE, "012345")
    },
    "a name, where others have ids": (
        "id,name\n12345,Ada Lovelace\n777,Mallory Smith\n",
        [ADA, "smithmallory_999_678_bert.py"],
        {"12345": [0], "777": [], "999": [1]},
    ),
    "an id for a name on Canvas": (
        "id\n12345\n",
        ["12345_777_1_bert.py"],
        {"12345": [], "777": [0]},
    ),
    "an id for a name on Moodle": (
        "id\n12345\n",
        ["12345_777_assignsubmission_file_x.py"],
        {"12345": [], "12345_777": [0]},
    ),
    "Moodle's participants without names": (
        "Identifier,Status,Grade\nParticipant 7,,\nParticipant 8,,\nParticipant 9,,\n",
        [
            "Participant_8_assignsubmission_file_bert.py",
            "Participant_8_assignsubmission_file_optimizer.py",
            "Participant 7_123_assignsubmission_file_bert.py",
            "Participant 7_123_assignsubmission_file_optimizer.py",
        ],
        {"Participant 7": [2], "Participant 8": [0], "Participant 9": []},
    ),
    "somebody called anon": ("", [ADA, "anon_abc12_777_888_bert.py"], {"12345": [0], "777": [1]}),
    **{
        f"what is no program: {file}": (
            "id,name\ns000,Ada\n777,Eve\n",
            [f"s000{Path(file).suffix}", f"mallory_777_1_{file}", "x_5_link.html"],
            {"s000": [0], "777": [1], "5": [2]},
        )
        for file in ("bert.zip", "s000.7z", "work.pdf", "x.docx")
    },
    "a number in a name of the list": (
        "id\ns000\ns000-1\n",
        ["s000.zip", "s000-1.zip"],
        {"s000": [0], "s000-1": [1]},
    ),
    "what Canvas makes no name of": (
        EXPORT,
        [ADA, "a.b_12345_6_bert.py"],
        ADAS | {"a.b_12345_6_bert": [1]},
    ),
    "one on Blackboard": ("", ["Project 1_ada_attempt_2026-11-19-10-00-00_bert.py"], {"ada": [0]}),
    "two of one name on Moodle, without a list": (
        "",
        [
            "Ada Lovelace_123_assignsubmission_file_bert.py",
            "Ada Lovelace_124_assignsubmission_file_/bert.py",
            "Grace Hopper_125_assignsubmission_onlinetext_/onlinetext.html",
        ],
        {"Ada Lovelace_123": [0], "Ada Lovelace_124": [1], "Grace Hopper_125": [2]},
    ),
    "text that was typed gives way to a file": (
        "",
        [
            "Alan Turing_125_assignsubmission_onlinetext_/onlinetext.html",
            "Alan Turing_125_assignsubmission_file_/bert.py",
            "Ada Lovelace_126_assignsubmission_onlinetext_onlinetext.html",
            "Ada Lovelace_126_assignsubmission_file_code.7z",
            "noethere_444_text.html",
            "noethere_444_9_report.txt",
        ],
        {"Alan Turing_125": [1, 0], "Ada Lovelace_126": [3, 2], "444": [5, 4]},
    ),
    "hidden files, and what systems leave": (
        "",
        [".ada.py", ".b/bert.py", "._bob.py", ".DS_Store", ".git/HEAD", ".~lock.x.csv#"],
        {".ada": [0], ".b": [1]},
    ),
    "plain files and folders": (
        "",
        ["ada.py", "grace.tar.gz", "alan/bert.py", "notes.pdf", ".DS_Store", "__MACOSX/x"],
        {"ada": [0], "grace": [1], "alan": [2], "notes": [3]},
    ),
    "two of one name": (
        "id;name\n7;Wei Zhang\n",
        [f"Wei Zhang_{n}_assignsubmission_file_/bert.py" for n in (1, 2)],
        {"7": [], "Wei Zhang_1": [0], "Wei Zhang_2": [1]},
    ),
    **{
        f"a team: {file}": (
            "id,name,team\n1,Ada,Team One\n3,Cy,team-two\n4,Team One,\n5,Eve,Team Two\n",
            [file],
            {"1": [], "3": [0], "4": [], "5": [0]},
        )
        for file in ("team-two.zip", "Team Two/bert.py", "TEAM_TWO (2).zip")
    },
}


@pytest.mark.parametrize(("roster", "files", "whose"), WHOSE.values(), ids=WHOSE)
def test_each_hand_in_belongs_to_the_right_student(
    tmp_path: Path, roster: str, files: list[str], whose: dict[str, list[int]]
) -> None:
    folder = handed_in(tmp_path / "in", *files)

    hand_ins = listed(tmp_path, roster) if roster else by_student(find(folder))

    assert {
        student: names(hand_in) if hand_in.path else [] for student, hand_in in hand_ins.items()
    } == {
        student: [files[place].partition("/")[0] for place in places]
        for student, places in whose.items()
    }


@pytest.mark.parametrize(
    "name",
    [
        "smithmallory_12345_6_x_777_999_bert.py",
        "smithmallory_LATE_12345_6_x_777_999_bert.py",
        "lovelaceada_12345_6__777_999_bert.py",
        "_12345_6_x_777_999_bert.py",
        "x_12345_777_999_bert.py",
        "mallory_777_999_x_12345_6_bert.py",
        "Mallory_12345_assignsubmission_file_x_777_999_bert.py",
    ],
)
@pytest.mark.parametrize("with_list", [True, False])
def test_a_name_with_somebody_elses_id_is_never_theirs(
    tmp_path: Path, name: str, with_list: bool
) -> None:
    if with_list:
        hand_ins = listed(tmp_path, EXPORT, ADA, name)
    else:
        hand_ins = by_student(find(handed_in(tmp_path, ADA, name)))

    assert names(hand_ins["12345"]) == [ADA]
    assert [
        hand_in for hand_in in hand_ins.values() if hand_in.path and hand_in.path.name == name
    ] == [] or (hand_ins["777"].path is not None)


def test_a_hand_in_of_either_of_two_students_is_nobodys_and_names_both(tmp_path: Path) -> None:
    name = "smithmallory_12345_6_x_777_999_bert.py"

    hand_ins = listed(tmp_path, EXPORT, ADA, name)

    hand_in = hand_ins[name]
    assert hand_in.path is None
    assert not hand_in.known
    assert hand_in.others == (tmp_path / "in" / name,)
    assert hand_in.fault.startswith(
        "could belong to 12345 (Lovelace, Ada) or 777 (Smith, Mallory), so"
    )
    assert hand_ins["777"].path is None
    assert not hand_ins["777"].fault


def test_a_name_takes_nothing_from_somebody_who_is_known_by_id(tmp_path: Path) -> None:
    roster = "id,name\n12345,Ada Lovelace\n777,Mallory Smith\n"

    hand_ins = listed(tmp_path, roster, "12345.zip", "lovelaceada_999_678_bert.py")

    assert names(hand_ins["12345"]) == ["12345.zip"]
    assert hand_ins["999"].notes == ("not on the roster",)


@pytest.mark.parametrize(
    ("name", "late"),
    [
        ("eve_LATE_8_9_bert.py", True),
        ("eve_late_8_9_bert.py", False),
        ("eve_8_1__LATE_8_9_bert.py", True),
        ("eve_late__LATE_8_9_bert.py", True),
        ("_LATE_8_9_bert.py", True),
        ("eve_8_9_LATE_bert.py", False),
        ("eve_8_9_x_LATE_y.py", False),
    ],
)
def test_no_name_that_students_choose_decides_whether_they_are_late(
    tmp_path: Path, name: str, late: bool
) -> None:
    (hand_in,) = find(handed_in(tmp_path, name))

    assert hand_in.student == "8"
    assert any("late according to its name" in note for note in hand_in.notes) is late


WORKSHEET = """Identifier,Full name,Email address,Status,Grade,Maximum Grade
Participant 123,Ada Lovelace,ada@x.example,,,100
Participant 456,Mallory Smith,mal@x.example,,,100
"""


@pytest.mark.parametrize(
    "name",
    [
        "Mallory_123_assignsubmission_file_x_456_assignsubmission_file_",
        "Ada Lovelace_456_assignsubmission_file_",
        "Participant 123_456_assignsubmission_file_",
        "123_456_assignsubmission_file_",
        "Ada Lovelace_999_assignsubmission_file_",
    ],
)
def test_moodles_worksheet_decides_by_its_numbers_alone(tmp_path: Path, name: str) -> None:
    ada = "A. Lovelace_123_assignsubmission_file_"

    hand_ins = listed(tmp_path, WORKSHEET, f"{ada}/bert.py", f"{name}/bert.py")

    assert names(hand_ins["Participant 123"]) == [ada]
    assert hand_ins["Participant 123"].name == "Ada Lovelace"
    assert not hand_ins["Participant 456"].path or hand_ins["Participant 456"].path.name == name


@pytest.mark.parametrize("ending", ["bert.py", "1_bert.py", "text.html"])
def test_anonymous_uploads_of_one_student_are_one_hand_in(tmp_path: Path, ending: str) -> None:
    folder = handed_in(
        tmp_path, f"anon_x7Kp2_10_{ending}", "anon_x7Kp2_11_optimizer.py", "LATE_anon_ab_3_bert.py"
    )
    handed_in(tmp_path, "anon_x_bert.py", "anon_x_optimizer.py")

    hand_ins = by_student(find(folder))

    assert sorted(hand_ins) == ["anon_ab", "anon_x", "anon_x7Kp2"]
    assert any("late" in note for note in hand_ins["anon_ab"].notes)


def test_a_document_never_takes_the_place_of_code(tmp_path: Path) -> None:
    folder = handed_in(tmp_path, "ada.zip", "ada.pdf", "bob.pdf")
    os.utime(folder / "ada.zip", (1_700_000_000, 1_700_000_000))

    hand_ins = by_student(find(folder))

    assert names(hand_ins["ada"]) == ["ada.zip", "ada.pdf"]
    assert names(hand_ins["bob"]) == ["bob.pdf"]


@pytest.mark.parametrize(
    "repeat", ["s000 (2).zip", "s000(1).zip", "s000-1.zip", "s000 (2)/bert.py"]
)
def test_a_repeat_upload_is_of_the_same_student(tmp_path: Path, repeat: str) -> None:
    beside = by_student(find(handed_in(tmp_path / "beside", "s000.zip", repeat)))
    alone = by_student(find(handed_in(tmp_path / "alone", repeat, "other.zip")))
    on_list = listed(tmp_path, "id\ns000\n", repeat)

    assert sorted(beside) == ["s000"]
    assert sorted(on_list) == ["s000"]
    assert sorted(alone) == sorted(["other", repeat.split("/")[0].removesuffix(".zip")])


def test_different_systems_may_use_one_name_for_different_people(tmp_path: Path) -> None:
    hand_ins = find(handed_in(tmp_path, "12345.zip", ADA))

    assert len({hand_in.student for hand_in in hand_ins}) == 2
    assert all(hand_in.path for hand_in in hand_ins)


def test_a_time_in_the_roster_is_that_of_every_hand_in(tmp_path: Path) -> None:
    roster = "id,submitted\ns000,2026-11-20T23:00:01Z\n"

    hand_ins = listed(tmp_path, roster, "s000.zip", "s000 (2).zip")

    expected = datetime.datetime(2026, 11, 20, 23, 0, 1, tzinfo=datetime.UTC)
    assert hand_ins["s000"].submitted == expected
