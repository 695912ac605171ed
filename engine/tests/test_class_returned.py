"""What goes back to a platform, as its importer reads it, and what changed since the last time."""

import re
import shutil
import zipfile
from pathlib import Path

import pytest

from tensormark.classroom import feedback, returned
from tensormark.classroom.entry import Adjustment
from tensormark.classroom.find import Found, read_list
from tensormark.classroom.people import FileError
from testkit import classes
from testkit.classes import result

# lists of each platform, in which {this|that} is first this, and afterwards that
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (8),Final Score\n"
    "    Points Possible,,,,,80,(read only)\n"
    '"Lovelace, Ada",1,s1,ada,A,{|80},70\n"Turing, Alan",2,s2,alan,A,{49|50.5},70\n'
    '"Hopper, Grace",3,,grace,A,EX,\n"=Noether, Emmy",4,,emmy,A,,\n=Zoe,5,,zoe,A,{|80},\n'
)
MOODLE = (
    "Identifier,Full name,Status,Grade,Maximum Grade,Grade can be changed,Last modified (grade),"
    "Feedback comments\n"
    'Participant 1,=Ada,Submitted for grading,{|80},80.00,Yes,-,"-2, ""late"" \n= 3"\n'
    "Participant 2,Alan Turing,Submitted for grading,{49|50.5},80.00,Yes,-,\n"
    "Participant 3,Grace Hopper,Submitted for grading,,80.00,No,-,\n"
    "Participant 4,Emmy Noether,No submission,7,80.00,Yes,-,\n"
    "Participant 5,Zoe,Submitted for grading,EX,80.00,Yes,-,\n"
)
BLACKBOARD = (
    '"Last Name"\t"First Name"\t"Username"\t"Lab 1 [Total Pts: 80 Score] |55"\n'
    '"Lovelace"\t"=Ada"\t"ada"\t"{|80}"\n"Turing"\t"Alan"\t"alan"\t"{Needs Grading|50.5}"\n'
    '"Hopper"\t"Grace"\t"grace"\t"Exempt"\n"Noether"\t"Emmy"\t"emmy"\t""\n'
    '"Z"\t"Zoe"\t"zoe"\t"{|80}"'
)
BRIGHTSPACE = (
    "\ufeffOrgDefinedId,Username,Lab 1 Points Grade <Numeric MaxPoints:80 Weight:10>,"
    'End-of-Line Indicator\r\n#007,#ada,{|80},#\r\n#8,#alan,"{1,012.50|50.5}",#\r\n'
    "#9,#grace,N/A,#\r\n#10,#emmy,,#\r\n#11,#zoe,{|80},#\r\n"
)
REGISTRAR = (
    "sep=;\r\nid;name;mark;room\r\n1;Ada;{|80};a\r\n2;Alan;{49,5|50,5};b\r\n\r\n3;Grace;ill;c\r\n"
    "4;Emmy\r\n5;Zoe{|;80}\r\n"
)
# the list, the column that staff name, and what is said
LISTS = {
    "canvas": (CANVAS, "Lab 1", "3 marks in the column 'Lab 1 (8)'| has 'EX' there, which is kept"),
    "moodle": (
        MOODLE,
        "",
        "2 marks|49 becomes 50.5|cannot be changed in Moodle|not handed in; keeps 7|has 'EX'",
    ),
    "blackboard": (
        BLACKBOARD,
        "lab 1",
        "3 marks|has 'Exempt' there|emmy (Emmy Noether): not handed in",
    ),
    "brightspace": (BRIGHTSPACE, "Lab 1", "3 marks|1,012.50 becomes 50.5|has 'N/A' there"),
    "folder": (
        REGISTRAR,
        "mark",
        "3 marks in the column 'mark'|49,5 becomes 50.5|3 (Grace): has 'ill' there, which is kept",
    ),
}
CHANGE = re.compile(r"{(.*?)\|(.*?)}")
FILES = [
    "lovelaceada_1_10_detector.py",
    "turingalan_2_11_detector.zip",
    "gh_3_12_detector.py",
    "",
    "zoe_5_13_x_1_2_detector.py",  # could be Ada's
]


def of_platform(text, folder, encoding="utf-8"):
    """Return what five listed students handed in on a platform, of whom one did not."""
    path = folder / "list.csv"
    path.write_bytes(CHANGE.sub(r"\1", text).encode(encoding))
    table, listed, platform = read_list(path)
    entries = []
    for person, file in zip(listed, FILES, strict=True):
        model = result("no_bias" if file.endswith(".zip") else None) if file else None
        entries.append(classes.entry(person.student, model, name=person.name))
        entries[-1].row = person.row
        entries[-1].cells = person.cells
        entries[-1].ids = person.ids
        entries[-1].path = Path(file) if file else None
        if file.endswith(".zip"):
            entries[-1].adjustments = [Adjustment(0.5, "a half")]
    return Found(platform, entries, table, platform)


def given_back(found, column, folder, chosen="changed"):
    """Write what goes back, after what is in `folder`; return what is printed."""
    new = folder / "new"
    marks = returned.column_of(found, column)
    feedback.write(found.entries, new, folder)
    lines = returned.write(found, marks, chosen, new, folder)
    shutil.copytree(new, folder, dirs_exist_ok=True)
    shutil.rmtree(new)
    return "\n".join(lines)


def zipped_names(folder):
    with zipfile.ZipFile(folder / "feedback.zip") as archive:
        return archive.namelist()


@pytest.mark.parametrize("name", LISTS)
def test_a_list_comes_back_with_its_column_filled_in_and_every_other_byte_as_it_was(name, tmp_path):
    text, column, words = LISTS[name]
    encoding = "utf-16" if name == "blackboard" else "utf-8"
    found = of_platform(text, tmp_path, encoding)

    lines = given_back(found, column, tmp_path)

    assert found.listed_by.name == name
    assert (tmp_path / "marks.csv").read_bytes() == CHANGE.sub(r"\2", text).encode(encoding)
    assert [word for word in words.split("|") if word not in lines] == []


@pytest.mark.parametrize(
    ("people", "column", "words"),
    [
        (CANVAS, "Lab 9", "no column of marks titled 'Lab 9'; set column in class.toml to one of"),
        (REGISTRAR, "Mrk", "titled 'Mrk'; set column in class.toml to one of these titles: mark"),
        (CANVAS.replace("Final Score", "Lab 1 (9)"), "Lab 1", "several columns of marks"),
        (MOODLE.replace(",Maximum Grade", ",Scale"), "", "on a scale"),
        (MOODLE.replace(",Last modified (grade)", ",Changed"), "", "no column 'last modified"),
    ],
)
def test_a_list_that_would_not_be_imported_is_one_line(people, column, words, tmp_path):
    with pytest.raises(FileError, match=re.escape(words)):
        returned.column_of(of_platform(people, tmp_path), column)


def test_points_stay_between_0_and_the_maximum_of_the_column_and_a_line_says_whose(tmp_path):
    found = of_platform(CANVAS.replace(",80,", ",90,"), tmp_path)
    ada, alan, grace, emmy, zoe = found.entries
    for entry, change in ((ada, 30), (alan, -60), (grace, 5), (emmy, -10)):
        entry.adjustments = [Adjustment(change, "x")]

    column = returned.column_of(found, "Lab 1")

    *_, alone, only = returned.limit(found.entries, column, kept=False)
    assert alone == "  4 (=Noether, Emmy): -10 (not handed in)"
    assert ada.points == 110
    lines = returned.limit(found.entries, column, kept=True)

    assert lines[-1] == only
    assert ada.steps[-1] == "points stay between 0 and 90, instead of 110"
    assert [each.points for each in (ada, alan, grace, emmy, zoe)] == [90, 0, 85, 0, 80]
    assert "the column takes 90 points, the assignment gives 80" in lines[-1]
    assert lines[0] == "points: 3 kept between 0 and 90:"
    assert "110 becomes 90" in lines[1]


def test_after_an_appeal_only_the_reports_that_changed_are_uploaded(tmp_path):
    def again(appeal="", chosen="changed"):
        found = of_platform(MOODLE, tmp_path)
        found.entries[3].ids = {}  # as on another list; she handed in nothing
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
    assert "as before, since there is no new report for it" in same
    assert unchanged == everybody == zipped_names(tmp_path)
    assert "1 report changed: Participant 1 (=Ada)" in appeal
    assert "Moodle skips grades that changed there" in appeal
    assert one == ["Ada_1_assignfeedback_file_report.html"]


def test_a_report_is_deleted_with_a_line_and_no_zip_that_may_not_have_been_uploaded(tmp_path):
    given_back(of_platform(CANVAS, tmp_path), "Lab 1", tmp_path)
    everybody = zipped_names(tmp_path)
    found = of_platform(CANVAS, tmp_path)
    found.entries[0].result = None  # and there is no path
    found.entries[0].path = found.entries[0].submission = None
    found.entries[1].path = Path("turingalan_2_11_detector.tar")
    found.entries[1].adjustments = []

    lines = given_back(found, "Lab 1", tmp_path)

    assert "feedback: 1 report deleted: 1\n" in lines
    assert "feedback.zip: as before, since there is no new report for it" in lines
    assert zipped_names(tmp_path) == everybody


def test_canvas_gets_what_fits_the_name_of_what_was_handed_in(tmp_path):
    found = of_platform(CANVAS, tmp_path)
    unread = classes.entry("4", name="Emmy")
    unread.path = Path("emmy_4_14_detector.py")
    unread.problem = "detector.py is empty"
    unread.adjustments = [Adjustment(3, "showed it to me")]
    found.entries[3] = unread
    found.entries.append(classes.entry("6"))
    found.entries[-1].adjustments = unread.adjustments

    lines = given_back(found, "Lab 1", tmp_path)

    assert zipped_names(tmp_path) == [*FILES[:3], "emmy_4_14_detector.py"]
    assert "zoe_5_13_x_1_2_detector.py: Canvas could not match" in lines
    assert "6: handed in no file that Canvas named" in lines
    with zipfile.ZipFile(tmp_path / "feedback.zip") as archive:
        report, said = (archive.read(name).decode() for name in (FILES[0], unread.path.name))
    assert all(line[0] == "#" for line in report.splitlines())
    assert said == "# detector.py is empty\n# adjusted by 3: showed it to me\n"
