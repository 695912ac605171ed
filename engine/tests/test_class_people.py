"""Who handed in what, for each platform, and never somebody else's."""

import datetime
import os
import random
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensormark.classroom.find import note_late
from tensormark.classroom.people import FileError
from testkit.classes import found, handed_in, owners
from testkit.tiers import NIGHTLY

MOODLE = "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade)\n"
TWO = "id,name\n1,Ada Lovelace\n2,Alan Turing\n"
TEXT = Path(__file__).with_name("hand_ins.txt").read_text("utf-8")
CASES = dict(case.split("\n", 1) for case in TEXT.split("\n## ")[1:])


@pytest.mark.parametrize("case", CASES)
def test_everything_has_the_owner_that_its_name_and_the_list_say(case: str, tmp_path) -> None:
    lines = CASES[case].splitlines()
    people = "".join(f"{line[2:]}\n" for line in lines if line.startswith("| "))
    expected = dict(line.split(" <-", 1) for line in lines if " <-" in line)
    names = re.split("[;+]", ";".join(expected.values()))
    expected.pop("nobody", None)

    files = [name.strip() for name in reversed(names) if name.strip()]  # what is noted is older
    owned = owners(found(tmp_path, files, people))

    assert owned == {name: text.replace("/", "").strip() for name, text in expected.items()}


METADATA = """---
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: '1'
    :email: ada@x.example
  - :name: Alan Turing
    :sid: '2'
    :email: alan@x.example
  :created_at: 2026-11-20 23:10:00.000000000 Z
  :results: !ruby/object:Result
    :output: "name: eve\\n:sid: '1'"
submission_2:
  :submitters:
  - :name: Eve
    :sid: '1'
    :email: eve@x.example
  :created_at: 9999-12-31 23:59:59 -11:00
"""
ROSTER = (
    "First Name,Last Name,SID,Email,Role\n"
    "Ada,Lovelace,1,ada@x.example,Student\nAlan,T,2,alan@x.example,Student\n"
)


def export(folder: Path, *more: str) -> Path:
    """Write an export of Gradescope's; Eve has typed Ada's student ID."""
    handed_in(folder / "in", "submission_1/", "submission_2/", *more)
    (folder / "in/submission_metadata.yml").write_text(METADATA, "utf-8")
    return folder


def test_a_lone_folder_of_a_platform_is_entered(tmp_path) -> None:
    result = found(tmp_path, ["download/ada_1_10_detector.py", "download/b_2_11_detector.py"])

    assert result.platform.name == "canvas"
    assert list(owners(result)) == ["1", "2"]


@pytest.mark.parametrize(
    ("people", "students"),
    [
        ("", {"1": "submission_1", "2": "submission_1", "1, submission_2": "submission_2"}),
        (ROSTER, {"1": "submission_1", "2": "submission_1", "1, submission_2": "submission_2"}),
        (  # without addresses, nobody can say whose the ID is
            "sid\n1\n2\n",
            {
                "1": "",
                "2": "submission_1",
                "submission_1": "; submission_1",
                "submission_2": "; submission_2",
            },
        ),
    ],
)
def test_gradescopes_list_says_who_submitted_and_when(
    people: str, students: dict[str, str], tmp_path
) -> None:
    result = found(export(tmp_path), [], people)

    assert owners(result) == students
    times = {each.student: each.submitted for each in result.entries}
    assert str(times["2"]).startswith("2026-11-2")
    assert times.get("1, submission_2") is None  # no clock has that time


@pytest.mark.parametrize(
    ("more", "platform", "words"),
    [
        ("", "canvas", "as the platform is canvas"),
        ("ada.py", "", "move ada.py to a folder of its own"),
        ("submission_3", "", "move submission_3 to a folder of its own"),
    ],
)
def test_gradescopes_list_is_believed_only_beside_its_own_folders(
    more: str, platform: str, words: str, tmp_path
) -> None:
    result = found(export(tmp_path, *filter(None, [more])), [], platform=platform)

    assert words in result.warnings[0]
    assert {"submission_1", "submission_2", "submission_metadata.yml"} <= set(owners(result))


def test_only_students_files_count_whatever_their_names_are(tmp_path) -> None:
    left = ["ada.py:Zone.Identifier", "Icon\r", "~$roster.xlsx", ".DS_Store", "._ada.py"]
    folder = handed_in(tmp_path / "in", "ada.py", *left)
    for name in (b"Jos\xe9.py", b"Jos\\udce9.py", "José.py".encode()):
        (Path(os.fsdecode(os.fsencode(folder) + b"/" + name))).write_text("", "utf-8")
    (folder / "link.py").symlink_to(folder / "ada.py")

    result = found(tmp_path, [])

    assert set(owners(result)) == {"ada", "José", "Jos\\udce9", "Jos\\udce9, Jos\\udce9.py", "link"}
    (link,) = (each for each in result.entries if each.student == "link")
    assert link.path is None
    assert "is a link" in link.problem


@pytest.mark.parametrize(
    ("people", "files", "platform", "words"),
    [
        ("", [], "", "is empty; unpack the hand-ins into it"),
        ("", ["detector.py"], "", "contains detector.py itself"),
        ("points\n3\n", ["a.py"], "", "names none of the columns"),
        ("id\n", ["a.py"], "", "lists no student"),
        ("id\n1\n1\n", ["a.py"], "", "row 3: '1' is listed twice"),
        ('id\n"1\n', ["a.py"], "", "not a CSV file"),
        ("", ["submission_1/"], "gradescope", "has no submission_metadata.yml"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    people: str, files: list[str], platform: str, words: str, tmp_path
) -> None:
    (tmp_path / "in").mkdir()

    with pytest.raises(FileError, match=words) as caught:
        found(tmp_path, files, people, platform)
    assert "\n" not in str(caught.value)


def test_a_list_that_matches_nobody_is_said_in_one_line(tmp_path) -> None:
    (warning,) = found(tmp_path, ["x.py", "y.py"], TWO).warnings

    assert "none of the hand-ins matches" in warning


WORKSHEET = (
    f"{MOODLE}Participant 1,Ada,,Submitted for grading - 30 mins late,,80,-\n"
    "Participant 2,Alan,,Submitted for grading,,80,-\n"
)
DEADLINE = datetime.datetime(2026, 10, 1, 22, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("files", "people", "late"),
    [
        (["a_LATE_1_10_detector.py", "b_2_11_detector.py"], "", [True, False]),
        ([f"{n}_assignsubmission_file_x.py" for n in ("A_1", "B_2")], WORKSHEET, [True, False]),
        ([f"L_{n}_attempt_2026-10-0{n}-22-00-00_x.py" for n in (3, 1)], "", [False, True]),
        (["ada.py", "alan.py"], "", [False, True]),
        (["lab-ada/", "lab-alan/"], "identifier,github_username\n1,ada\n2,alan\n", [None, None]),
    ],
)
def test_who_was_late_is_what_the_platform_says_or_its_time_and_the_deadline_give(
    files: list[str], people: str, late: list[bool | None], tmp_path
) -> None:
    result = found(tmp_path, files, people)
    for entry, day in zip(result.entries, (1, 3), strict=True):
        time = DEADLINE.replace(day=day).timestamp()
        os.utime(tmp_path / "in" / entry.path, (time, time))

    note_late(result, DEADLINE)

    assert [each.late for each in result.entries] == late


# --- random listings --------------------------------------------------------------------------

WORDS = ("ada", "lovelace", "1", "2", "12", "file", "LATE", "x", "é", "anon", "attempt")
PIECES = st.sampled_from([*WORDS, "_", "-", " ", "assignsubmission", "2026-11-20-10-00-00", ".py"])
NAMES = st.lists(PIECES, min_size=1, max_size=9).map(lambda parts: "".join(parts)[:90])
NAMES = NAMES.filter(lambda name: name.strip(" ."))
# of each platform: what a name looks like, and a list with its titles and a row for each student
FORMS = {
    "canvas": ("{name}_{id}_{n}_{odd}.py", "canvas_user_id,name\n", "{id},Student {id}\n"),
    "moodle": (
        "{name}_{id}_assignsubmission_file_{odd}.py",
        MOODLE,
        "Participant {id},S{id},,,,80,-\n",
    ),
    "blackboard": (
        "Lab_{id}_attempt_2026-11-20-10-00-{n}_{odd}.py",
        "login,name\n",
        "{id},Student {id}\n",
    ),
    "folder": ("{id}.py", "id,name\n", "{id},Student {id}\n"),
}


@pytest.mark.parametrize("platform", FORMS)
@settings(max_examples=3000 if NIGHTLY else 60, deadline=None)
@given(data=st.data())
def test_nobody_ever_gets_what_somebody_else_handed_in(
    platform: str, data: st.DataObject, tmp_path_factory
) -> None:
    """Students choose their names, but not their ids; some choose file names of all kinds."""
    folder = tmp_path_factory.mktemp("listing")
    form, people, row = FORMS[platform]
    ids = data.draw(st.lists(st.integers(1, 40).map(str), min_size=2, max_size=5, unique=True))
    files = {}
    for number, student in enumerate(ids):
        name = data.draw(NAMES)
        if platform == "canvas":
            name = "".join(filter(lambda c: c.isalnum() or c == "_", name)) or "x"
        file = form.format(name=name, id=student, n=10 + number, odd=data.draw(NAMES))
        files[file] = student
        people += row.format(id=student)
    order = list(files)
    random.Random(len(order)).shuffle(order)

    result = found(folder, order, people, platform)

    for hand_in in result.entries:
        if hand_in.row is not None and hand_in.path is not None:
            student = hand_in.student.removeprefix("Participant ")
            assert files[hand_in.path.name] == student
    shutil.rmtree(folder)
