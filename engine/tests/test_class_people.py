"""Who handed in what, for each platform, and never somebody else's."""

import os
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classes import found, handed_in, owners
from tensormark.classroom.hand_in import legible
from tensormark.classroom.people import FileError, forms
from tiers import NIGHTLY

CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (8)\n    Points Possible,,,,,80\n"
MOODLE = "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade)\n"
GRADESCOPE = "First Name,Last Name,SID,Email,Role\n"
GITHUB = "identifier,github_username,github_id,name\n"
TWO = "id,name\n1,Ada Lovelace\n2,Alan Turing\n"
# the list, the names of what was handed in, and the owners' files: the graded one first
CASES = {
    "canvas, no list": (
        "",
        ["lovelaceada_1_10_detector.py", "turingalan_LATE_2_11_detector-1.py"],
        {"1": ["lovelaceada_1_10_detector.py"], "2": ["turingalan_LATE_2_11_detector-1.py"]},
    ),
    "canvas, its own list": (
        CANVAS
        + '"Lovelace, Ada",1,s1,ada,A,\n"Turing, Alan",2,s2,alan,A,\n"Student, Test",3,,,A,\n',
        ["lovelaceada_1_10_detector.py", "x_9_10_detector.py"],
        {"1": ["lovelaceada_1_10_detector.py"], "2": [], "9": ["x_9_10_detector.py"]},
    ),
    "canvas, two files and an older version": (
        "",
        [
            "ada_1_10_detector.py",
            "ada_1_12_detector-1.py",
            "ada_1_11_extra.py",
            "b_2_1_detector.py",
        ],
        {"1": ["ada_1_12_detector-1.py", "ada_1_10_detector.py"], "2": ["b_2_1_detector.py"]},
    ),
    "canvas, a name that could be two people's": (
        CANVAS + '"Lovelace, Ada",1,s1,ada,A,\n"Turing, Alan",2,s2,alan,A,\n',
        ["ada_1_10_x_2_11_detector.py", "turingalan_2_12_detector.py"],
        {
            "1": [],
            "2": ["turingalan_2_12_detector.py"],
            "ada_1_10_x_2_11_detector.py": ["ada_1_10_x_2_11_detector.py"],
        },
    ),
    "canvas, a name with one reading and another with two": (
        CANVAS + '"Lovelace, Ada",1,s1,ada,A,\n"Turing, Alan",2,s2,alan,A,\n',
        ["ada_1_10_detector.py", "ada_1_11_notes_2026_11_20.pdf", "eve_9_12_x_1_2_detector.py"],
        {
            "1": ["ada_1_10_detector.py"],
            "2": [],
            "ada_1_11_notes_2026_11_20.pdf": ["ada_1_11_notes_2026_11_20.pdf"],
            "eve_9_12_x_1_2_detector.py": ["eve_9_12_x_1_2_detector.py"],
        },
    ),
    "canvas, somebody who is not listed writes a student's id into a name": (
        CANVAS + '"Lovelace, Ada",1,s1,ada,A,\n"Turing, Alan",2,s2,alan,A,\n',
        ["eve_9_12_x_1_10_9_11_detector.py", "turingalan_2_11_hw_2026_11_20.py"],
        {
            "1": [],
            "2": ["turingalan_2_11_hw_2026_11_20.py"],
            "eve_9_12_x_1_10_9_11_detector.py": ["eve_9_12_x_1_10_9_11_detector.py"],
        },
    ),
    "canvas, letters that unzip could not write": (
        CANVAS + '"José",1,,,A,\n"Turing, Alan",2,,,A,\n',
        ["jos#U00e9_1_10_detector.py", "turingalan_2_11_#U00e9_1_3_x.py"],
        {
            "1": ["jos#U00e9_1_10_detector.py"],
            "2": [],
            "turingalan_2_11_#U00e9_1_3_x.py": ["turingalan_2_11_#U00e9_1_3_x.py"],
        },
    ),
    "canvas, anonymous": (
        "",
        ["anon_x7K_10_detector.py", "anon_y8L_11_detector.py"],
        {"anon_x7K": ["anon_x7K_10_detector.py"], "anon_y8L": ["anon_y8L_11_detector.py"]},
    ),
    "canvas, a document beside the code": (
        "",
        ["ada_1_10_detector.py", "ada_1_11_report.pdf", "ada_1_text.html"],
        {"1": ["ada_1_10_detector.py", "ada_1_11_report.pdf", "ada_1_text.html"]},
    ),
    "canvas, a list without its ids": (
        "student,name\ns1,Ada Lovelace\ns2,Ada Lovelace\ns3,Alan Turing\n1,Grace Hopper\n",
        ["lovelaceada_1_10_detector.py", "turingalan_2_11_detector.py"],
        {
            "s1": [],
            "s2": [],
            "s3": ["turingalan_2_11_detector.py"],
            "1": [],
            "lovelaceada_1_10_detector.py": ["lovelaceada_1_10_detector.py"],
        },
    ),
    "moodle": (
        MOODLE + "Participant 7,Ada Lovelace,ada@x.example,,,80,-\n"
        "Participant 8,Alan Turing,alan@x.example,,,80,-\n",
        ["Ada Lovelace_7_assignsubmission_file_/", "Al_9_assignsubmission_file_detector.py"],
        {
            "Participant 7": ["Ada Lovelace_7_assignsubmission_file_"],
            "Participant 8": [],
            "Al_9": ["Al_9_assignsubmission_file_detector.py"],
        },
    ),
    "moodle, a text beside the file": (
        "",
        [
            "A_7_assignsubmission_onlinetext_onlinetext.html",
            "A_7_assignsubmission_file_detector.py",
        ],
        {
            "A_7": [
                "A_7_assignsubmission_file_detector.py",
                "A_7_assignsubmission_onlinetext_onlinetext.html",
            ]
        },
    ),
    "blackboard": (
        "",
        [
            "Lab 1_ada_attempt_2026-11-20-10-00-00_detector.py",
            "Lab 1_ada_attempt_2026-11-21-10-00-00_detector.py",
            "Lab 1_ada_attempt_2026-11-21-10-00-00.txt",
            "Lab 1_b_c_attempt_2026-11-20-10-00-00_detector.py",
        ],
        {
            "ada": [
                "Lab 1_ada_attempt_2026-11-21-10-00-00_detector.py",
                "Lab 1_ada_attempt_2026-11-20-10-00-00_detector.py",
            ],
            "b_c": ["Lab 1_b_c_attempt_2026-11-20-10-00-00_detector.py"],
        },
    ),
    "blackboard, logins that begin alike": (
        "login,name\nstu_1,Ada\nstu_2,Alan\n2,Eve\n",
        [
            "Lab_1_stu_1_attempt_2026-11-20-10-00-00_detector.py",
            "Lab_1_stu_2_attempt_2026-11-20-10-00-00_detector.py",
        ],
        {
            "stu_1": ["Lab_1_stu_1_attempt_2026-11-20-10-00-00_detector.py"],
            "stu_2": [],
            "2": [],
            "Lab_1_stu_2_attempt_2026-11-20-10-00-00_detector.py": [
                "Lab_1_stu_2_attempt_2026-11-20-10-00-00_detector.py"
            ],
        },
    ),
    "github, with its roster": (
        GITHUB + "s1,ada-l,1,Ada\ns2,alan,2,Alan\n",
        ["lab-1-ada-l/", "lab-1-alan/", "lab-1-eve/"],
        {"s1": ["lab-1-ada-l"], "s2": ["lab-1-alan"], "eve": ["lab-1-eve"]},
    ),
    "github, with a file beside the folders": (
        GITHUB + "s1,ada-l,1,Ada\ns2,alan,2,Alan\n",
        ["lab-1-ada-l/", "lab-1-alan/", "grades.csv"],
        {"s1": ["lab-1-ada-l"], "s2": ["lab-1-alan"], "grades.csv": ["grades.csv"]},
    ),
    "a folder of own names": (
        TWO,
        ["Ada Lovelace.zip", "2.py", "eve.py", "Ada Lovelace (2).zip"],
        {"1": ["Ada Lovelace (2).zip", "Ada Lovelace.zip"], "2": ["2.py"], "eve": ["eve.py"]},
    ),
    "a name like another platform's is a name": (
        TWO,
        ["1/", "2/", "x_1_10_detector.py", "Lab_1_attempt_2027-01-01-00-00-00_detector.py"],
        {
            "1": ["1"],
            "2": ["2"],
            "x_1_10_detector": ["x_1_10_detector.py"],
            "Lab_1_attempt_2027-01-01-00-00-00_detector": [
                "Lab_1_attempt_2027-01-01-00-00-00_detector.py"
            ],
        },
    ),
    "a list with a column for files": (
        "id,file\n1,b.py\n2,a.py\n",
        ["a.py", "b.py"],
        {"1": ["b.py"], "2": ["a.py"]},
    ),
    "a list that names one file twice, and one that cannot be": (
        f"id,file\n1,b.py\n2,b.py\n3,{'c' * 5000}\n",
        ["b.py"],
        {"1": ["b.py"], "2": ["b.py"], "3": ["c" * 5000]},
    ),
    "a file that the list names is taken, whatever is newer": (
        "login,file\nada,old.py\nbob,\n",
        [
            "old.py",
            "Lab 1_ada_attempt_2026-11-20-10-00-00_detector.py",
            "Lab 1_bob_attempt_2026-11-20-10-00-00_detector.py",
        ],
        {
            "ada": ["old.py", "Lab 1_ada_attempt_2026-11-20-10-00-00_detector.py"],
            "bob": ["Lab 1_bob_attempt_2026-11-20-10-00-00_detector.py"],
        },
    ),
    "a platform's list to which staff added a column for files": (
        CANVAS.replace(",Lab 1 (8)", ",file,Lab 1 (8)")
        + '"Lovelace, Ada",1,s1,ada,A,x_1_2_3_4.py,\n',
        ["x_1_2_3_4.py", "ada_1_10_detector.py"],
        {"1": ["x_1_2_3_4.py", "ada_1_10_detector.py"]},
    ),
    "a team": (
        "id,team\n1,Red\n2,red\n3,Blue\n",
        ["Red.zip", "3.zip"],
        {"1": ["Red.zip"], "2": ["Red.zip"], "3": ["3.zip"]},
    ),
    "two files that fit one name are nobody's": (
        TWO,
        ["Ada Lovelace.py", "Lovelace, Ada.py"],
        {
            "1": [],
            "2": [],
            "Ada Lovelace.py": ["Ada Lovelace.py"],
            "Lovelace, Ada.py": ["Lovelace, Ada.py"],
        },
    ),
    "staff on the list are no students": (
        GRADESCOPE + "Ada,Lovelace,1,ada@x,Student\nAlan,T,2,alan@x,Instructor\nG,H,3,g@x,TA\n",
        ["1.py"],
        {"1": ["1.py"]},
    ),
    "what systems leave behind": (
        "",
        ["ada.py", "ada.py:Zone.Identifier", "Icon\r", "~$roster.xlsx", ".DS_Store", "._ada.py"],
        {"ada": ["ada.py"]},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_everything_has_the_owner_that_its_name_and_the_list_say(case: str, tmp_path: Path) -> None:
    people, files, expected = CASES[case]

    assert owners(found(tmp_path, files, people)) == expected


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
  :created_at: 2026-11-21 23:10:00 Z
"""


def export(folder: Path, *more: str) -> Path:
    """Write an export of Gradescope's; Eve has typed Ada's student ID."""
    handed_in(folder / "in", "submission_1/", "submission_2/", *more)
    (folder / "in/submission_metadata.yml").write_text(METADATA, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("people", "expected"),
    [
        ("", {"1": ["submission_1"], "2": ["submission_1"], "1, submission_2": ["submission_2"]}),
        (
            GRADESCOPE + "Ada,Lovelace,1,ada@x.example,Student\nAlan,T,2,alan@x.example,Student\n",
            {"1": ["submission_1"], "2": ["submission_1"], "1, submission_2": ["submission_2"]},
        ),
        (
            "sid\n1\n2\n",  # without addresses, nobody can say whose the ID is
            {
                "1": [],
                "2": ["submission_1"],
                "submission_1": ["submission_1"],
                "submission_2": ["submission_2"],
            },
        ),
    ],
)
def test_gradescopes_list_says_who_submitted(
    people: str, expected: dict[str, list[str]], tmp_path: Path
) -> None:
    assert owners(found(export(tmp_path), [], people)) == expected


@pytest.mark.parametrize("moment", ["0001-01-01 00:00:00", "9999-12-31 23:59:59 -11:00", "soon"])
def test_a_time_that_no_clock_has_is_none(moment: str, tmp_path: Path) -> None:
    export(tmp_path)
    text = METADATA.replace("2026-11-20 23:10:00.000000000 Z", moment)
    (tmp_path / "in/submission_metadata.yml").write_text(text, encoding="utf-8")

    assert found(tmp_path, []).hand_ins[0].submitted is None


def test_gradescopes_list_is_believed_only_beside_its_own_folders(tmp_path: Path) -> None:
    result = found(export(tmp_path, "ada.py"), [])
    students = owners(result)

    assert "ada.py is none of Gradescope's folders" in result.warnings[0]
    assert set(students) == {"ada", "submission_1", "submission_2", "submission_metadata.yml"}


@pytest.mark.parametrize(
    ("files", "platform", "words"),
    [
        (["submission_1/"], "canvas", "as the platform is canvas"),
        (["submission_1"], "", "submission_1 is none of Gradescope's folders"),
    ],
)
def test_gradescopes_list_that_is_not_read_is_said(
    files: list[str], platform: str, words: str, tmp_path: Path
) -> None:
    (warning,) = found(tmp_path, [*files, "submission_metadata.yml"], "", platform).warnings

    assert words in warning


def test_two_names_in_bytes_are_two_students(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "in")
    folder.mkdir()
    for name in (b"Jos\xe9.py", b"Jos\\udce9.py", "José.py".encode()):
        (Path(os.fsdecode(os.fsencode(folder) + b"/" + name))).write_text("", encoding="utf-8")

    assert len(owners(found(tmp_path, []))) == 3
    assert legible("Jos\udce9") != legible("Jos\\udce9")


def test_a_lone_folder_of_a_platform_is_entered(tmp_path: Path) -> None:
    result = found(tmp_path, ["download/ada_1_10_detector.py", "download/b_2_11_detector.py"])

    assert result.platform.name == "canvas"
    assert list(owners(result)) == ["1", "2"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    handed_in(tmp_path / "in", "b.py")
    (tmp_path / "in/ada.py").symlink_to(tmp_path / "in/b.py")

    (ada, _) = found(tmp_path, []).hand_ins

    assert ada.path is None
    assert "is a link" in ada.fault


@pytest.mark.parametrize(
    ("people", "files", "platform", "words"),
    [
        ("", [], "", "is empty; unpack the hand-ins into it"),
        ("", ["detector.py"], "", "contains detector.py itself"),
        ("points\n3\n", ["a.py"], "", "names none of the columns"),
        ("id\n", ["a.py"], "", "lists no student"),
        ("id\n1\n1\n", ["a.py"], "", "row 3: '1' is listed twice"),
        ('id\n"1\n', ["a.py"], "", "not a CSV file"),
        ("id,file\n1,../a.py\n", ["a.py"], "", "is not in"),
        ("", ["submission_1/"], "gradescope", "has no submission_metadata.yml"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    people: str, files: list[str], platform: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()

    with pytest.raises(FileError, match=words) as caught:
        found(tmp_path, files, people, platform)
    assert "\n" not in str(caught.value)


def test_a_list_that_matches_nobody_is_said_in_one_line(tmp_path: Path) -> None:
    (warning,) = found(tmp_path, ["x.py", "y.py"], TWO).warnings

    assert "none of the hand-ins matches" in warning


@pytest.mark.parametrize("other", ["lovelaceada", "Lovelace, Ada", "ADA  LOVELÁCE", "ada-lovelace"])
def test_a_name_may_be_written_in_many_ways(other: str) -> None:
    assert forms(other) & forms("Ada Lovelace")


# --- random listings --------------------------------------------------------------------------

WORDS = ("ada", "lovelace", "1", "2", "12", "file", "LATE", "x", "é", "anon", "attempt")
PIECES = st.sampled_from([*WORDS, "_", "-", " ", "assignsubmission", "2026-11-20-10-00-00", ".py"])
NAMES = st.lists(PIECES, min_size=1, max_size=9).map("".join).filter(lambda n: n.strip(" ."))
FORMS = {
    "canvas": "{name}_{id}_{n}_detector.py",
    "moodle": "{name}_{id}_assignsubmission_file_detector.py",
    "blackboard": "Lab_{id}_attempt_2026-11-20-10-00-{n}_detector.py",
    "folder": "{id}.py",
}


@pytest.mark.parametrize("platform", FORMS)
@settings(max_examples=3000 if NIGHTLY else 60, deadline=None)
@given(data=st.data())
def test_nobody_ever_gets_what_somebody_else_handed_in(
    platform: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Students choose their names, but not their ids; some choose file names of all kinds."""
    folder = tmp_path_factory.mktemp("listing")
    ids = data.draw(st.lists(st.integers(1, 40).map(str), min_size=2, max_size=5, unique=True))
    kind = {"canvas": "canvas_user_id", "blackboard": "login"}.get(platform, "id")
    files = {}
    for number, student in enumerate(ids):
        name = data.draw(NAMES)
        if platform == "canvas":
            name = "".join(filter(lambda c: c.isalnum() or c == "_", name)) or "x"
        plain = FORMS[platform].format(name=name.replace("/", ""), id=student, n=10 + number)
        odd = data.draw(NAMES) + ".py"
        chosen = plain if platform == "folder" else plain.replace("detector.py", odd)
        files[chosen] = student
    people = f"{kind},name\n" + "".join(f"{student},Student {student}\n" for student in ids)
    if platform == "moodle":
        lines = (f"Participant {student},S{student},,,,80,-\n" for student in ids)
        people = MOODLE + "".join(lines)
    order = list(files)
    random.Random(len(order)).shuffle(order)

    result = found(folder, order, people, platform)

    for hand_in in result.hand_ins:
        if hand_in.place is not None and hand_in.path is not None:
            student = hand_in.student.removeprefix("Participant ")
            assert files[hand_in.path.name] == student
    shutil.rmtree(folder)
