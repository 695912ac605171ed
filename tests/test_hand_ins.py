"""Who handed in what, from names of bulk downloads and from rosters, and what can be read."""

import os
from pathlib import Path

import pytest

from tensormark.classroom import standing, summary
from tensormark.classroom.jobs.work import read_work

from downloads import DEADLINE, GIVEN, by_student, class_of, error, find, handed_in, names


def test_file_names_of_canvas_say_who_handed_in_what(tmp_path: Path) -> None:
    folder = handed_in(
        tmp_path,
        "lovelaceada_12345_678_bert.py",
        "hoppergrace_LATE_222_679_submission.zip",
        "turingalan_333_680_bert-1.py",
        "turingalan_333_601_bert.py",
        "noethere_444_text.html",
    )

    hand_ins = by_student(find(folder))

    assert {student: hand_in.name for student, hand_in in hand_ins.items()} == {
        "12345": "lovelaceada",
        "222": "hoppergrace",
        "333": "turingalan",
        "444": "noethere",
    }
    assert names(hand_ins["333"]) == ["turingalan_333_680_bert-1.py", "turingalan_333_601_bert.py"]
    assert hand_ins["222"].notes == ("late according to its name, which does not say by how much",)
    assert hand_ins["222"].minutes_late is None


def test_file_names_of_blackboard_say_who_handed_in_what(tmp_path: Path) -> None:
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

    hand_ins = by_student(find(folder))

    assert sorted(hand_ins) == ["alovelace", "aturing", "g_hopper"]
    assert hand_ins["alovelace"].name == "Ada Lovelace"
    assert names(hand_ins["alovelace"]) == [
        f"{head}alovelace_attempt_2026-11-20-23-10-05_bert.py",
        f"{head}alovelace_attempt_2026-11-19-10-00-00_bert.py",
    ]
    assert hand_ins["alovelace"].submitted is not None
    assert hand_ins["alovelace"].submitted.strftime("%H:%M:%S") == "23:10:05"


def test_a_students_file_name_affects_no_other_student_on_blackboard(tmp_path: Path) -> None:
    head = "Final Project_one_"
    classmates = [
        f"{head}{login}_attempt_2026-11-19-10-00-00_bert.py" for login in ("ada", "g_hopper")
    ]
    imitation = f"{head}eve_attempt_2026-11-19-10-00-00_x_ada_attempt_2026-11-20-23-59-59.txt"
    folder = handed_in(tmp_path, *classmates, imitation, "Notes_x_attempt_2026-11-19-10-00-00.txt")
    (folder / imitation).write_text("Name: Ada Lovelace (ada)\n", encoding="utf-8")

    hand_ins = by_student(find(folder))

    assert sorted(hand_ins) == ["ada", "eve", "g_hopper", "x"]
    assert names(hand_ins["ada"]) == classmates[:1]


def test_notes_that_claim_the_same_login_leave_other_students_unchanged(tmp_path: Path) -> None:
    heads = [f"P_{login}_attempt_2026-11-19-10-00-00" for login in ("x_eve", "y_eve", "ada")]
    folder = handed_in(tmp_path, *(f"{head}.txt" for head in heads))
    for head in heads[:2]:
        (folder / f"{head}.txt").write_text("Name: Eve (eve)\n", encoding="utf-8")
    (folder / f"{heads[2]}.txt").write_text("Name: Bob (bob)\n", encoding="utf-8")

    assert sorted(by_student(find(folder))) == ["P_x_eve", "P_y_eve", "ada"]


@pytest.mark.parametrize(
    "prefix", ["eve_222_678_", "Eve_222_assignsubmission_file_", "Eve_222_assignsubmission_file_/"]
)
@pytest.mark.parametrize("file", ["p_ada_attempt_{}_bert.py", "attempt_{}_bert.py"])
def test_a_blackboard_pattern_within_another_systems_file_name_is_ignored(
    tmp_path: Path, prefix: str, file: str
) -> None:
    file = prefix + file.format("2026-11-20-23-59-59")
    folder = handed_in(tmp_path, "lovelaceada_111_677_bert.py", file)

    hand_ins = by_student(find(folder))

    assert sorted(hand_ins) == ["111", "222" if prefix[0] == "e" else "Eve_222"]


def test_a_fifo_in_place_of_a_note_does_not_block(tmp_path: Path) -> None:
    folder = handed_in(tmp_path, "P_bob_attempt_2026-11-19-10-00-00_bert.py")
    os.mkfifo(folder / "P_ada_attempt_2026-11-19-10-00-00.txt")

    assert sorted(by_student(find(folder))) == ["ada", "bob"]


@pytest.mark.parametrize("target", ["loop.py", "ada.py", "/etc/passwd", "nowhere", "."])
def test_no_link_is_followed_wherever_it_leads(tmp_path: Path, target: str) -> None:
    folder = handed_in(tmp_path, "ada.py")
    (folder / "loop.py").symlink_to(target)

    hand_ins = by_student(find(folder))

    assert hand_ins["loop"].path is None
    assert "loop.py is a link, which is not followed" in hand_ins["loop"].fault
    assert hand_ins["ada"].path is not None


def test_the_plain_file_with_the_newest_date_is_graded(tmp_path: Path) -> None:
    folder = handed_in(tmp_path, "ada.py", "ada.zip")
    os.utime(folder / "ada.zip", (1_700_000_000, 1_700_000_000))

    (hand_in,) = find(folder)

    assert names(hand_in) == ["ada.py", "ada.zip"]
    assert hand_in.notes == ("the newest of several was chosen by the dates of the files",)


ATTEMPT = "P_ada_attempt_2026-11-{}-12-00-00_bert.py"


@pytest.mark.parametrize(
    ("late", "days", "graded", "is_late"),
    [
        ("newest", (18, 19, 22), 22, True),
        ("before", (18, 19, 22), 19, False),
        ("before", (21, 22), 21, True),
        ("newest", (18, 19), 19, False),
    ],
)
def test_deadline_and_late_option_decide_which_attempt_is_graded(
    tmp_path: Path, late, days, graded, is_late
) -> None:
    folder = handed_in(tmp_path, *(ATTEMPT.format(day) for day in days))

    (hand_in,) = find(folder, deadline=DEADLINE, late=late)

    assert names(hand_in)[0] == ATTEMPT.format(graded)
    assert len(hand_in.others) == len(days) - 1
    assert hand_in.minutes_late is not None
    assert bool(hand_in.minutes_late) is is_late


def test_a_hand_in_that_canvas_marks_late_is_still_graded_without_a_time(tmp_path: Path) -> None:
    folder = handed_in(tmp_path, "a_LATE_5_2_bert.py")

    assert find(folder, deadline=DEADLINE, late="before")[0].path is not None


def test_unreadable_hand_ins_are_not_counted_as_missing(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "in", "grace.py")
    (tmp_path / "secret.py").touch()
    (folder / "ada.py").symlink_to(tmp_path / "secret.py")
    roster = tmp_path / "roster.csv"
    roster.write_text("student,file\nada,\nbob,gone.py\ncy,\n", encoding="utf-8")

    entries = class_of(folder, roster).unread()

    lines = list(standing.listed(standing.by_kind(entries)))
    assert lines[0].startswith("  could not be read: ada: ada.py is a link, which is not followed")
    assert lines[1] == "  could not be read: bob: gone.py is missing from the folder"
    assert lines[2] == "  not handed in: cy"
    assert [summary.kind_of(entry) for entry in entries] == [
        summary.UNREAD, summary.UNREAD, summary.NOT_IN,
    ]  # fmt: skip


def test_an_unusable_folder_roster_or_option_is_explained(tmp_path: Path) -> None:
    submission = handed_in(tmp_path / "own", "bert.py", "config.py")
    (tmp_path / "empty").mkdir()

    assert "cannot be read (No such file or directory)" in error(tmp_path / "none")
    assert "use make grade" in error(submission)
    assert "is empty" in error(tmp_path / "empty")
    assert "cannot be read" in error(submission / "..", roster=tmp_path / "none.csv")
    assert "must be one of newest, before" in error(tmp_path, late="later")
    assert "DEADLINE=" in error(tmp_path, late="before")


def test_a_blackboard_note_behind_a_link_is_not_read(tmp_path: Path) -> None:
    secret = handed_in(tmp_path, "secret") / "secret"
    secret.write_text("Name: Ada (ada)\n", encoding="utf-8")
    folder = handed_in(tmp_path / "in", "P_x_ada_attempt_2026-11-19-10-00-00_bert.py")
    (folder / "P_x_ada_attempt_2026-11-19-10-00-00.txt").symlink_to(secret)

    assert [hand_in.name for hand_in in find(folder)] == ["ada"]


def test_a_gradescope_list_behind_a_link_is_not_read_as_a_list(tmp_path: Path) -> None:
    export = handed_in(tmp_path / "own", "x/bert.py")
    (export / "submission_metadata.yml").write_text("x:\n", encoding="utf-8")
    folder = handed_in(tmp_path / "in", "ada.py")
    (folder / "submission_metadata.yml").symlink_to(export / "submission_metadata.yml")
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone/export").symlink_to(export)

    assert sorted(by_student(find(folder))) == ["ada", "submission_metadata.yml"]
    assert [hand_in.path for hand_in in find(tmp_path / "alone")] == [None]


def test_a_link_to_the_roster_does_not_hide_a_hand_in(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text("id\nada\n", encoding="utf-8")
    folder = handed_in(tmp_path / "in", "bob.py")
    (folder / "ada.py").symlink_to(tmp_path / "roster.csv")

    hand_ins = by_student(find(folder, tmp_path / "roster.csv"))

    assert "link" in hand_ins["ada"].fault


# --- what can be read ---------------------------------------------------------------------------


def test_files_handed_in_side_by_side_are_graded_together(tmp_path: Path) -> None:
    folder = handed_in(
        tmp_path / "in",
        "lovelaceada_1_10_bert.py",
        "lovelaceada_1_11_transformer-2.py",
        "lovelaceada_1_12_report.pdf",
    )

    (hand_in,) = find(folder)

    assert hand_in.path == folder / "lovelaceada_1_10_bert.py"
    assert read_work(hand_in.parts, GIVEN).sources == {
        "bert": "# lovelaceada_1_10_bert.py\n",
        "transformer": "# lovelaceada_1_11_transformer-2.py\n",
    }
    assert [path.name for path in hand_in.others] == ["lovelaceada_1_12_report.pdf"]


@pytest.mark.parametrize(
    ("files", "graded"),
    [
        (("BERT.PY", "optimizer.py", "bert_old.py"), {"bert": 1, "optimizer": 2}),
        (("bert.py", "bert-1.py"), {"bert": 2}),  # Canvas's name of the newer one
        (("work.py", "report.pdf"), {"bert": 1}),
    ],
)
def test_modules_are_found_under_unusual_file_names(
    tmp_path: Path, files: tuple[str, ...], graded: dict[str, int]
) -> None:
    file_names = [f"lovelaceada_1_{number}_{file}" for number, file in enumerate(files, start=1)]
    (hand_in,) = find(handed_in(tmp_path, *file_names))

    sources = read_work(hand_in.parts, GIVEN).sources

    assert sources == {name: f"# {file_names[number - 1]}\n" for name, number in graded.items()}


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("1_text.html", "links and typed text cannot be graded, only bert.py"),
        ("1_2_work.zip", "it is not a folder, a .py file, a zip or a tar; pack a zip instead"),
        ("1_2_optimizer.py", "there is no bert.py in it, which optimizer.py needs"),
    ],
)
def test_an_unusable_hand_in_counts_as_handed_in(tmp_path: Path, file: str, message: str) -> None:
    folder = handed_in(tmp_path / "in", f"ada_{file}")

    entries = class_of(folder).unread()

    assert [summary.kind_of(entry) for entry in entries] == [summary.UNREAD]
    assert message in entries[0].problem


def test_reading_announces_the_number_of_hand_ins_and_its_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "EVERY", 0.0)
    hand_ins, messages = find(handed_in(tmp_path, "ada.py", "bob.py")), list[str]()
    steps = standing.read_all(hand_ins, GIVEN, messages.append)

    next(steps)
    assert messages[0] == "reading what 2 students handed in"
    next(steps)
    assert messages[-1] == "1 of 2 read"


def test_reasons_distinguish_folders_and_pipes_from_files(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "in", "x_1_2_bert.py/main.txt")
    os.mkfifo(folder / "y_3_4_bert.py")

    entries = class_of(folder).unread()

    first, second = standing.listed(standing.by_kind(entries))
    assert first.startswith("  could not be read: 1 (x): there is no bert.py in it, only")
    assert second == "  could not be read: 3 (y): it is a pipe, a socket or a device"
