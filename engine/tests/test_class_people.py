"""Who handed in what, for each platform, and never somebody else's."""

import datetime
import os
import re
from pathlib import Path

import pytest

from tensormark.classroom.find import note_late, note_status
from tensormark.classroom.people import FileError, meaning
from testkit.classes import found, handed_in, owners
from testkit.listings import listings
from testkit.tiers import NIGHTLY

TEXT = Path(__file__).with_name("hand_ins.txt").read_text("utf-8")
CASES = dict(case.split("\n", 1) for case in TEXT.split("\n## ")[1:])
assert len(CASES) == TEXT.count("\n## ")  # none has the name of another


@pytest.mark.parametrize("case", CASES)
def test_everything_has_the_owner_that_its_name_and_the_list_say(case, tmp_path):
    lines = CASES[case].splitlines()
    people, words, there = (
        [line[2:] for line in lines if line.startswith(f"{sign} ")] for sign in "|?*"
    )
    expected = dict(line.split(" <-", 1) for line in lines if " <-" in line)
    names = re.split("[;+]", ";".join(expected.values()))
    expected.pop("nobody", None)

    owned = [name.strip() for name in reversed(names) if name.strip()]  # what is noted is older
    result = found(tmp_path, there or owned, "".join(f"{line}\n" for line in people))

    assert owners(result) == {
        name: text.replace("/", "").strip() for name, text in expected.items()
    }
    said = [*result.warnings, *note_status(result), *result.given]
    for entry in result.entries:
        said += [*entry.remarks, entry.problem]
    assert [each for each in words if not any(each in line for line in said)] == []
    assert "\n" not in "".join(said)


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


def export(folder, *more):
    """Write an export of Gradescope's; Eve has typed Ada's student ID."""
    handed_in(folder / "in", "submission_1/", "submission_2/", *more)
    (folder / "in/submission_metadata.yml").write_text(METADATA, "utf-8")
    return folder


def test_a_lone_folder_of_a_platform_is_entered(tmp_path):
    result = found(tmp_path, ["download/ada_1_10_detector.py", "download/b_2_11_detector.py"])

    assert result.platform.name == "canvas"
    assert list(owners(result)) == ["1", "2"]


def test_a_lone_submission_is_not_entered_for_a_file_named_like_a_platforms(tmp_path):
    result = found(tmp_path, ["ada/detector.py", "ada/submission_metadata.yml"])

    assert list(owners(result)) == ["ada"]


@pytest.mark.parametrize(
    ("people", "expected"),
    [
        ("", "ada@x.example alan@x.example eve@x.example"),
        (ROSTER, "1 2 eve@x.example"),
        ("id,email\n7,ADA@x.example\n", "7 alan@x.example eve@x.example"),
        # without addresses, nobody can say whose an ID or a name is that somebody typed
        ("sid,name\n1,Alan Turing\n", "ada@x.example alan@x.example eve@x.example"),
    ],
)
def test_gradescopes_list_says_by_address_who_submitted_and_when(people, expected, tmp_path):
    ada, alan, eve = expected.split()

    result = found(export(tmp_path), [], people)

    submitted = {each.student: each for each in result.entries if each.path}
    assert {name: each.path.name for name, each in submitted.items()} == {
        ada: "submission_1",
        alan: "submission_1",
        eve: "submission_2",
    }
    assert str(submitted[alan].submitted).startswith("2026-11-2")
    assert submitted[eve].submitted is None  # no clock has that time


@pytest.mark.parametrize("more", ["ada.py", "submission_3"])
def test_gradescopes_list_is_believed_only_beside_its_own_folders(more, tmp_path):
    with pytest.raises(FileError, match=f"{more}: is not part of Gradescope's export; move it"):
        found(export(tmp_path, more), [])

    result = found(tmp_path, [], platform="folder")

    names = {"submission_1", "submission_2", "submission_metadata.yml", more.removesuffix(".py")}
    assert set(owners(result)) == names


def test_only_students_files_count_whatever_their_names_are(tmp_path):
    left = ["ada.py:Zone.Identifier", "Icon\r", "~$roster.xlsx", ".DS_Store", "._ada.py"]
    folder = handed_in(tmp_path / "in", "ada.py", *left)
    for name in (b"Jos\xe9.py", b"Jos\\udce9.py", "José.py".encode()):
        (Path(os.fsdecode(os.fsencode(folder) + b"/" + name))).write_text("", "utf-8")
    (folder / "link.py").symlink_to(folder / "ada.py")

    result = found(tmp_path, [], "login\nJos\njose\u0301\n")

    others = {"Jos\\udce9", "Jos\\udce9, Jos\\udce9.py"}
    assert set(owners(result)) == {"ada", "Jos", "jose\u0301", "link", *others}
    (link,) = (each for each in result.entries if each.student == "link")
    assert link.path is None
    assert "is a link" in link.problem


def test_a_platforms_own_title_counts_as_it_is_written():
    assert meaning("user_id", {"user_id": "own"}) == "own"


@pytest.mark.parametrize(
    ("people", "files", "platform", "words"),
    [
        ("", [], "", "is empty; unpack the submissions into it"),
        ("", ["detector.py"], "", "contains detector.py itself"),
        ("points\n3\n", ["a.py"], "", "names none of the columns"),
        ("Identifiant,Nom complet\n3,\n", ["a.py"], "", "but Identifiant, Nom complet; rename"),
        ("id\n", ["a.py"], "", "lists no student"),
        ("id\n1\n1\n", ["a.py"], "", "row 3: '1' is listed twice"),
        ('id\n"1\n', ["a.py"], "", "not a CSV file"),
        ("", ["submission_1/"], "gradescope", "has no submission_metadata.yml"),
        ("", ["submission_1/", "submission_metadata.yml/"], "gradescope", "is a folder"),
    ],
)
def test_what_cannot_be_read_is_one_line(people, files, platform, words, tmp_path):
    (tmp_path / "in").mkdir()

    with pytest.raises(FileError, match=words) as caught:
        found(tmp_path, files, people, platform)
    assert "\n" not in str(caught.value)


WORKSHEET = (
    "Identifier,Full name,Status,Grade,Maximum Grade\n"
    "Participant 1,Ada,Submitted for grading - 30 mins late,,80\n"
    "Participant 2,Alan,Submitted for grading,,80\n"
)
LATE = "Submitted for grading - 30 mins late"
GERMAN_STATUS = WORKSHEET.replace(LATE, "Zur Bewertung abgegeben - 30 Minuten zu spät")


MOODLES = [f"{name}_assignsubmission_file_x.py" for name in ("A_1", "B_2")]
REPOSITORIES = "identifier,github_username\n1,ada\n2,alan\n"
EAST = datetime.timezone(datetime.timedelta(hours=9))  # times without an offset are there
DEADLINE = datetime.datetime(2026, 10, 1, 22, tzinfo=EAST)


@pytest.mark.parametrize(
    ("files", "people", "late", "unused"),
    [
        (["a_LATE_1_10_x.py", "b_2_11_x.py"], "", [True, False], "canvas says itself who"),
        (MOODLES, WORKSHEET, [True, False], "moodle says itself who was late"),
        (MOODLES, GERMAN_STATUS, [None, False], "moodle gives no times"),
        ([f"L_{n}_attempt_2026-10-01-{n}-00-00_x.py" for n in (24, 23)], "", [True, None], ""),
        ([f"L_{n}_attempt_2026-10-01-22-0{n}-00_x.py" for n in (1, 0)], "", [False, True], ""),
        ([f"1-{n} - N{n} - Oct {n}, 2026 1100 PM" for n in (1, 2)], "", [True, True], ""),
        (["ada.py", "alan.py"], "", [False, True], "the times of the files say who was late"),
        (["lab-ada/", "lab-alan/"], REPOSITORIES, [None, None], "github gives no times"),
    ],
)
def test_who_was_late_is_what_the_platform_says_or_its_time_and_the_deadline_give(
    files, people, late, unused, tmp_path
):
    result = found(tmp_path, files, people)
    for entry, day in zip(result.entries, (1, 3), strict=True):
        time = DEADLINE.replace(day=day).timestamp()
        os.utime(tmp_path / "in" / entry.path, (time, time))

    note_status(result)
    lines = note_late(result, DEADLINE)

    assert [unused in line for line in lines] == [True] * bool(unused)
    assert [each.late for each in result.entries] == late
    assert result.platform.name != "folder" or all(each.submitted for each in result.entries)


# --- random listings --------------------------------------------------------------------------


def test_nobody_ever_gets_what_somebody_else_handed_in_and_nothing_is_lost(tmp_path):
    for number, listing in enumerate(listings(2026, 3000 if NIGHTLY else 350)):
        assert list(listing.faults(tmp_path / str(number))) == [], listing
