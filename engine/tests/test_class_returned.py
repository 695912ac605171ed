"""What goes back to a platform, as its importer reads it, and what changed since the last time."""

import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensormark.classroom import feedback, returned
from tensormark.classroom.entry import Adjustment
from tensormark.classroom.find import Found, read_list
from tensormark.classroom.people import FileError, read_table
from testkit import classes
from testkit.classes import result
from testkit.graded import edited

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (8),Final Score\n"
    "    Points Possible,,,,,80,(read only)\n"
    '"Lovelace, Ada",1,s1,ada,A,,70\n"Turing, Alan",2,s2,alan,A,49,70\n'
    '"Hopper, Grace",3,,grace,A,EX,\n"=Noether, Emmy",4,,emmy,A,,\n=Zoe,5,,zoe,A,,\n'
)
MOODLE = (
    "Identifier,Full name,Status,Grade,Maximum Grade,Grade can be changed,Last modified (grade),"
    "Feedback comments\n"
    'Participant 1,=Ada,Submitted for grading - 30 mins late,,80.00,Yes,-,"-2, -3 = late"\n'
    "Participant 2,Alan Turing,Submitted for grading,49,80.00,Yes,-,\n"
    "Participant 3,Grace Hopper,Submitted for grading,,80.00,No,-,\n"
    "Participant 4,Emmy Noether,No submission,,80.00,Yes,-,\n"
    "Participant 5,Zoe,Submitted for grading,EX,80.00,Yes,-,\n"
)
BLACKBOARD = (
    '"Last Name"\t"First Name"\t"Username"\t"Lab 1 [Total Pts: 80 Score] |55"\n'
    '"Lovelace"\t"=Ada"\t"ada"\t""\n"Turing"\t"Alan"\t"alan"\t"Needs Grading(49.00)"\n'
    '"Hopper"\t"Grace"\t"grace"\t"Exempt"\n"Noether"\t"Emmy"\t"emmy"\t""\n"Z"\t"Zoe"\t"zoe"\t""'
)
BRIGHTSPACE = (
    "\ufeffOrgDefinedId,Username,Lab 1 Points Grade <Numeric MaxPoints:80 Weight:10>,"
    "End-of-Line Indicator\r\n"
    "#007,#ada,,#\r\n#8,#alan,12.5,#\r\n#9,#grace,N/A,#\r\n#10,#emmy,,#\r\n#11,#zoe,,#\r\n"
)
REGISTRAR = (
    "id;name;mark;room\r\n1;Ada;;a\r\n2;Alan;49,5;b\r\n\r\n3;Grace;ill;c\r\n4;Emmy\r\n5;Zoe\r\n"
)


# of each platform: its list, the column that staff name, what changes in it, and what is said
LISTS: Mapping[str, tuple[str, str, list[tuple[str, str]], list[str]]] = {
    "canvas": (
        CANVAS,
        "Lab 1",
        [("ada,A,", "ada,A,80"), ("A,49", "A,50.5"), ("zoe,A,", "zoe,A,80")],
        ["3 marks in the column 'Lab 1 (8)'", "49 becomes 50.5", "has 'EX' there, which is kept"],
    ),
    "moodle": (
        MOODLE,
        "",
        [("mins late,,", "mins late,80,"), ("grading,49", "grading,50.5")],
        ["2 marks", "49 becomes 50.5", "the grade cannot be changed in Moodle", "has 'EX' there"],
    ),
    "blackboard": (
        BLACKBOARD,
        "Lab 1",
        [
            ('"ada"\t""', '"ada"\t"80"'),
            ("Needs Grading(49.00)", "50.5"),
            ('"zoe"\t""', '"zoe"\t"80"'),
        ],
        ["3 marks", "has 'Exempt' there", "emmy (Emmy Noether): not handed in"],
    ),
    "brightspace": (
        BRIGHTSPACE,
        "lab 1",
        [("#ada,,", "#ada,80,"), ("12.5", "50.5"), ("#zoe,,", "#zoe,80,")],
        ["3 marks", "12.5 becomes 50.5", "has 'N/A' there"],
    ),
    "folder": (
        REGISTRAR,
        "mark",
        [("Ada;;", "Ada;80;"), ("49,5", "50,5"), ("5;Zoe", "5;Zoe;80")],
        ["3 marks in the column 'mark'", "49,5 becomes 50.5", "has 'ill' there"],
    ),
}
FILES = [
    "lovelaceada_1_10_detector.py",
    "turingalan_2_11_detector.zip",
    "gh_3_12_detector.py",
    "",
    "zoe_5_13_x_1_2_detector.py",  # could be Ada's
]


def of_platform(text: str, folder: Path, encoding: str = "utf-8") -> Found:
    """Return what five listed students handed in on a platform, of whom one did not."""
    path = folder / "list.csv"
    path.write_bytes(text.encode(encoding))
    table, listed, platform = read_list(path)
    entries = []
    for person, file in zip(listed, FILES, strict=True):
        model = result("no_bias" if file.endswith(".zip") else None) if file else None
        entries.append(classes.entry(person.student, model, name=person.name))
        entries[-1].row = person.row
        entries[-1].path = Path(file) if file else None
        if file.endswith(".zip"):
            entries[-1].adjustments = [Adjustment(0.5, "a half")]
    return Found(folder, platform, entries, table, platform)


def given_back(found: Found, column: str, folder: Path, chosen: str = "changed") -> str:
    """Write what goes back, after what is in `folder`; return what is printed."""
    new = folder / "new"
    marks = returned.column_of(found, column)
    feedback.write(found.entries, new, folder)
    lines = returned.write(found, marks, chosen, new, folder)
    shutil.copytree(new, folder, dirs_exist_ok=True)
    shutil.rmtree(new)
    return "\n".join(lines)


def zipped_names(folder: Path) -> list[str]:
    with zipfile.ZipFile(folder / "feedback.zip") as archive:
        return archive.namelist()


@pytest.mark.parametrize("name", LISTS)
def test_a_list_comes_back_with_its_column_filled_in_and_every_other_byte_as_it_was(
    name: str, tmp_path
) -> None:
    text, column, changes, words = LISTS[name]
    encoding = "utf-16" if name == "blackboard" else "utf-8"
    found = of_platform(text, tmp_path, encoding)

    lines = given_back(found, column, tmp_path)

    assert found.listed_by.name == name
    assert (tmp_path / "marks.csv").read_bytes() == edited(text, *changes).encode(encoding)
    assert [word for word in words if word not in lines] == []


CELLS = st.sampled_from(["a", '"a"', '"a,;""b\n"', '""', "", " b"])


@given(
    rows=st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=4),
    separator=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    place=st.integers(0, 4),
)
def test_one_cell_of_any_table_is_another(
    rows: list[list[str]], separator: str, end: str, place: int, tmp_path_factory
) -> None:
    path = tmp_path_factory.mktemp("table") / "list.csv"
    lines = [separator.join(row) for row in [["t", "u", "v"], *(["x", *row] for row in rows)]]
    path.write_text(end.join(lines), "utf-8", newline="")
    before = read_table(path)

    path.write_bytes(before.filled(place, {1: "80,5"}))

    first = [*before.rows[1], *[""] * 5][: max(len(before.rows[1]), place + 1)]
    first[place] = "80,5"
    assert read_table(path).rows == [before.rows[0], first, *before.rows[2:]]


@pytest.mark.parametrize(
    ("people", "column", "words"),
    [
        (CANVAS, "Lab 9", "no column titled 'Lab 9'; set column in class.toml to one of these"),
        (CANVAS.replace("Final Score", "Lab 1 (9)"), "Lab 1", "several columns titled 'Lab 1'"),
        (CANVAS.replace(",80,", ",40,"), "", "takes 40 points, and the assignment gives 80"),
        (MOODLE.replace(",Maximum Grade", ",Scale"), "", "on a scale"),
        (MOODLE.replace(",Last modified (grade)", ",Changed"), "", "no column 'last modified"),
    ],
)
def test_a_list_that_would_not_be_imported_is_one_line(
    people: str, column: str, words: str, tmp_path
) -> None:
    with pytest.raises(FileError, match=re.escape(words)):
        returned.column_of(of_platform(people, tmp_path), column)


def test_points_stay_between_0_and_the_maximum_of_the_column_and_a_line_says_whose(
    tmp_path,
) -> None:
    found = of_platform(CANVAS.replace(",80,", ",90,"), tmp_path)
    ada, alan, grace, emmy, zoe = found.entries
    for entry, change in ((ada, 30), (alan, -60), (grace, 5), (emmy, -10)):
        entry.adjustments = [Adjustment(change, "x")]

    lines = returned.limit(found.entries, returned.column_of(found, "Lab 1"))

    assert [each.points for each in (ada, alan, grace, emmy, zoe)] == [90, 0, 85, 0, 80]
    assert "it takes 90 points, the assignment gives 80" in given_back(found, "Lab 1", tmp_path)
    assert lines[0] == "points: 3 kept between 0 and 90:"
    assert "110 becomes 90" in lines[1]


def test_after_an_appeal_only_the_reports_that_changed_are_uploaded(tmp_path) -> None:
    def again(appeal: str = "", chosen: str = "changed") -> str:
        found = of_platform(MOODLE, tmp_path)
        if appeal:
            found.entries[0].adjustments = [Adjustment(-1, appeal)]
        return given_back(found, "", tmp_path, chosen)

    first = again()
    everybody = zipped_names(tmp_path)
    same = again()
    unchanged = zipped_names(tmp_path)
    appeal = again("regraded")
    one = zipped_names(tmp_path)
    again("regraded", chosen="all")

    assert "report changed" not in first
    assert len(everybody) == 4
    assert "as before, since no report has changed" in same
    assert unchanged == everybody == zipped_names(tmp_path)
    assert "1 report changed: Participant 1 (=Ada)" in appeal
    assert "Moodle skips grades that changed there" in appeal
    assert one == ["Ada_1_assignfeedback_file_report.html"]


def test_canvas_gets_what_fits_the_name_of_what_was_handed_in(tmp_path) -> None:
    found = of_platform(CANVAS, tmp_path)
    unread = classes.entry("4", name="Emmy")
    unread.path = Path("emmy_4_14_detector.py")
    unread.problem = "detector.py is empty"
    unread.adjustments = [Adjustment(3, "showed it to me")]
    found.entries[3] = unread

    lines = given_back(found, "Lab 1", tmp_path)

    assert zipped_names(tmp_path) == [*FILES[:3], "emmy_4_14_detector.py"]
    assert "zoe_5_13_x_1_2_detector.py: Canvas could not match" in lines
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        report, said = (archive.read(name).decode() for name in (FILES[0], unread.path.name))
    assert all(line[0] == "#" for line in report.splitlines())
    assert said == "# detector.py is empty\n# adjusted by 3: showed it to me\n"
