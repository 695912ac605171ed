"""Who handed in what, from names of bulk downloads and from rosters."""

import datetime
import os
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.classroom import standing, summary
from tensormark.classroom.store import Store
from tensormark.intake.given_files import GivenFiles

from downloads import by_student, error, find, handed_in, names

UTC = datetime.UTC
DEADLINE = datetime.datetime(2026, 11, 20, 23, 0, tzinfo=UTC)


def test_names_of_canvas(tmp_path: Path) -> None:
    folder = handed_in(
        tmp_path,
        "lovelaceada_12345_678_bert.py",
        "hoppergrace_LATE_222_679_submission.zip",
        "turingalan_333_680_bert-1.py",
        "turingalan_333_601_bert.py",
        "noethere_444_text.html",
    )

    found = by_student(find(folder))

    assert {student: one.name for student, one in found.items()} == {
        "12345": "lovelaceada",
        "222": "hoppergrace",
        "333": "turingalan",
        "444": "noethere",
    }
    assert names(found["333"]) == ["turingalan_333_680_bert-1.py", "turingalan_333_601_bert.py"]
    assert found["222"].notes == ("late according to its name, which does not say by how much",)
    assert found["222"].minutes_late is None


@pytest.mark.parametrize("flat", [True, False])
def test_names_of_moodle(tmp_path: Path, flat: bool) -> None:
    between = "" if flat else "/"
    folder = handed_in(
        tmp_path,
        f"Ada Lovelace_123_assignsubmission_file_{between}bert.py",
        f"Ada Lovelace_124_assignsubmission_file_{between}bert.py",
        "Grace Hopper_125_assignsubmission_onlinetext_/onlinetext.html",
    )

    found = find(folder)

    assert [(one.student, one.name) for one in found] == [
        ("Ada Lovelace_123", "Ada Lovelace"),
        ("Ada Lovelace_124", "Ada Lovelace"),
        ("Grace Hopper_125", "Grace Hopper"),
    ]


def test_names_of_blackboard(tmp_path: Path) -> None:
    head = "Final Project_one_"
    folder = handed_in(
        tmp_path,
        f"{head}alovelace_attempt_2026-11-19-10-00-00_bert.py",
        f"{head}alovelace_attempt_2026-11-20-23-10-05_bert.py",
        f"{head}g_hopper_attempt_2026-11-20-09-00-00_my_code.zip",
        f"{head}aturing_attempt_2026-11-20-09-00-00.txt",
    )
    note = f"{head}alovelace_attempt_2026-11-20-23-10-05.txt"
    (folder / note).write_text("Name: Ada Lovelace (alovelace)\nAssignment: x\n", encoding="utf-8")

    found = by_student(find(folder))

    assert sorted(found) == ["alovelace", "aturing", "g_hopper"]
    assert found["alovelace"].name == "Ada Lovelace"
    assert names(found["alovelace"]) == [
        f"{head}alovelace_attempt_2026-11-20-23-10-05_bert.py",
        f"{head}alovelace_attempt_2026-11-19-10-00-00_bert.py",
    ]
    assert found["alovelace"].submitted is not None
    assert found["alovelace"].submitted.strftime("%H:%M:%S") == "23:10:05"


def test_a_note_of_blackboard_makes_nobody_somebody_else(tmp_path: Path) -> None:
    folder = handed_in(
        tmp_path,
        "P_x_eve_attempt_2026-11-19-10-00-00_bert.py",
        "P_y_eve_attempt_2026-11-19-10-00-00_bert.py",
    )
    for login in ("x_eve", "y_eve"):
        note = folder / f"P_{login}_attempt_2026-11-19-10-00-00.txt"
        note.write_text("Name: Eve (eve)\n", encoding="utf-8")

    assert len(find(folder)) == 2


def test_a_students_file_name_changes_nobody_elses_on_blackboard(tmp_path: Path) -> None:
    head = "Final Project_one_"
    classmates = [f"{head}{one}_attempt_2026-11-19-10-00-00_bert.py" for one in ("ada", "g_hopper")]
    stolen = f"{head}eve_attempt_2026-11-19-10-00-00_x_ada_attempt_2026-11-20-23-59-59.txt"
    folder = handed_in(tmp_path, *classmates, stolen, "Notes_x_attempt_2026-11-19-10-00-00.txt")
    (folder / stolen).write_text("Name: Ada Lovelace (ada)\n", encoding="utf-8")

    found = by_student(find(folder))

    assert sorted(found) == ["ada", "eve", "g_hopper", "x"]
    assert names(found["ada"]) == classmates[:1]


def test_notes_that_claim_one_login_leave_everybody_else_as_they_are(tmp_path: Path) -> None:
    heads = [f"P_{login}_attempt_2026-11-19-10-00-00" for login in ("x_eve", "y_eve", "ada")]
    folder = handed_in(tmp_path, *(f"{head}.txt" for head in heads))
    for head in heads[:2]:
        (folder / f"{head}.txt").write_text("Name: Eve (eve)\n", encoding="utf-8")

    assert sorted(by_student(find(folder))) == ["P_x_eve", "P_y_eve", "ada"]


@pytest.mark.parametrize(
    "own", ["eve_222_678_", "Eve_222_assignsubmission_file_", "Eve_222_assignsubmission_file_/"]
)
@pytest.mark.parametrize("file", ["p_ada_attempt_{}_bert.py", "attempt_{}_bert.py"])
def test_a_name_like_blackboards_in_another_systems_is_the_students_own(
    tmp_path: Path, own: str, file: str
) -> None:
    file = own + file.format("2026-11-20-23-59-59")
    folder = handed_in(tmp_path, "lovelaceada_111_677_bert.py", file)

    found = by_student(find(folder))

    assert sorted(found) == ["111", "222" if own[0] == "e" else "Eve_222"]


def test_a_fifo_for_a_note_is_not_waited_for(tmp_path: Path) -> None:
    folder = handed_in(tmp_path, "P_bob_attempt_2026-11-19-10-00-00_bert.py")
    os.mkfifo(folder / "P_ada_attempt_2026-11-19-10-00-00.txt")

    assert sorted(by_student(find(folder))) == ["ada", "bob"]


@pytest.mark.parametrize("target", ["loop.py", "ada.py", "/etc/passwd", "nowhere", "."])
def test_no_link_is_followed_wherever_it_leads(tmp_path: Path, target: str) -> None:
    folder = handed_in(tmp_path, "ada.py")
    (folder / "loop.py").symlink_to(target)

    found = by_student(find(folder))

    assert found["loop"].path is None
    assert "loop.py is a link, which is not followed" in found["loop"].fault
    assert found["ada"].path is not None


def test_of_plain_files_the_newest_by_its_date_is_graded(tmp_path: Path) -> None:
    folder = handed_in(tmp_path, "ada.py", "ada.zip")
    os.utime(folder / "ada.zip", (1_700_000_000, 1_700_000_000))

    (one,) = find(folder)

    assert names(one) == ["ada.py", "ada.zip"]
    assert one.notes == ("the newest of several was chosen by the dates of the files",)


ATTEMPT = "P_ada_attempt_2026-11-{}-12-00-00_bert.py"


@pytest.mark.parametrize(
    ("late", "days", "graded", "minutes"),
    [
        ("newest", (18, 19, 22), 22, True),
        ("before", (18, 19, 22), 19, False),
        ("before", (21, 22), 21, True),
        ("newest", (18, 19), 19, False),
    ],
)
def test_which_of_several_is_graded(tmp_path: Path, late, days, graded, minutes) -> None:
    folder = handed_in(tmp_path, *(ATTEMPT.format(day) for day in days))

    (one,) = find(folder, deadline=DEADLINE, late=late)

    assert names(one)[0] == ATTEMPT.format(graded)
    assert len(one.others) == len(days) - 1
    assert one.minutes_late is not None
    assert bool(one.minutes_late) is minutes


def test_canvass_mark_counts_where_there_is_no_time(tmp_path: Path) -> None:
    folder = handed_in(tmp_path, "a_LATE_5_2_bert.py")

    assert find(folder, deadline=DEADLINE, late="before")[0].path is not None


def test_what_cannot_be_graded_is_not_counted_as_not_handed_in(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "in", "grace.py")
    (tmp_path / "secret.py").touch()
    (folder / "ada.py").symlink_to(tmp_path / "secret.py")
    roster = tmp_path / "roster.csv"
    roster.write_text("student,file\nada,\nbob,gone.py\ncy,\n", encoding="utf-8")

    with Store(tmp_path / "store") as store:
        entries = standing.Class(find(folder, roster), GivenFiles(ASSIGNMENT, {}), store).unread()

    lines = list(standing.listed(standing.by_kind(entries)))
    assert lines[0].startswith("  could not be read: ada: ada.py is a link, which is not followed")
    assert lines[1] == "  could not be read: bob: gone.py is missing from the folder"
    assert lines[2] == "  not handed in: cy"
    assert [summary.kind_of(one) for one in entries] == [
        summary.UNREAD, summary.UNREAD, summary.NOT_IN,
    ]  # fmt: skip


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    own = handed_in(tmp_path / "own", "bert.py", "config.py")
    (tmp_path / "empty").mkdir()

    assert "cannot be read (No such file or directory)" in error(tmp_path / "none")
    assert "use make grade" in error(own)
    assert "is empty" in error(tmp_path / "empty")
    assert "cannot be read" in error(own / "..", roster=tmp_path / "none.csv")
    assert "must be one of newest, before" in error(tmp_path, late="later")
    assert "DEADLINE=" in error(tmp_path, late="before")


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
