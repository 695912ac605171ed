"""What is written about a class, from made-up entries, and what students' text does in it."""

import csv
import itertools
import json
import re
from pathlib import Path

import pytest

from tensormark.authoring.course import open_course
from tensormark.classroom import config, counts, feedback, gradebook, teach
from tensormark.classroom.entry import Adjustment, Entry
from tensormark.classroom.people import FileError
from testkit import classes
from testkit.classes import SAYS, result
from testkit.formats import Tags
from testkit.payloads import PAYLOADS


def written(entries, folder):
    """Write everything about a class; return its texts by name."""
    common = counts.note_flags(entries)
    feedback.write(entries, folder, folder)
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {
        **{f"{path.parent.name}/{path.name}": path.read_text("utf-8") for path in paths},
        "gradebook.csv": gradebook.table(entries),
        "gradebook.html": gradebook.page(entries, SAYS, common),
    }


def test_the_page_shows_who_made_which_mistake(tmp_path):
    late = [Adjustment(-5, "late")]
    entries = [
        classes.entry("ada", result()),
        classes.entry("alan", result("no_bias")),
        classes.entry("grace", result("flipped+no_bias"), adjustments=late),
        classes.entry("emmy"),
    ]

    page = written(entries, tmp_path)["gradebook.html"]

    tag = re.search(r'2 of 3</span>.*the bias is missing.*data-show="(\w+)"', page)
    rows = re.findall('data-tags="([^"]*)"', page)
    assert tag
    assert "<b>60</b>mean" in page
    assert [tag[1] in row.split() for row in rows] == [False, True, True, False]
    assert re.search(f'<option value="{tag[1]}">conv: the bias is missing \\(2\\)', page)


def test_a_flag_that_most_have_says_nothing_about_anybody():
    flags = (["a", "b"], ["a", "c"], ["a", "c"], [])
    entries = [classes.entry(str(n), result(flags=own)) for n, own in enumerate(flags)]

    assert counts.note_flags(entries) == ["a"]
    assert [each.flags for each in entries] == [["b"], ["c"], ["c"], []]


def test_files_that_differ_in_comments_and_layout_are_equal():
    given = "def f():\n    raise NotImplementedError\n"
    texts = ["x = 1  # mine\n", "\nx  =  1\r\n", "x = 2\n", given, given]
    entries = [classes.entry(text, result()) for text in texts]

    counts.note_equal(entries, {"detector": given})

    assert [list(each.equal_to) for each in entries] == [[texts[1]], [texts[0]], [], [], []]


def test_a_student_gets_nothing_that_is_for_staff(tmp_path):
    flagged = classes.entry("ada", result("no_bias", "printed", ["a flag"]))
    flagged.result["exercises"][0]["findings"][0]["excerpt"] = {"kind": "an excerpt"}
    flagged.result["of staff"] = "a secret"

    texts = written([flagged], tmp_path)

    own = [text for name, text in texts.items() if name.startswith("ada/")]
    assert len(own) == 2
    assert not re.search("a flag|an excerpt|a secret", "".join(own))
    assert json.loads(texts["ada/results.json"])["printed"] == ""


@pytest.mark.parametrize("payload", PAYLOADS, ids=ascii)
def test_texts_of_students_act_nowhere(payload, tmp_path):
    def class_with(text):
        model = result("no_bias", text, [text])
        student = Entry(text[:40], f"{text} x", path=Path("x"), remarks=[text], result=model)
        return [student, Entry(f"{text[:40]}2", f"{text} x", problem=text)]

    plain = written(class_with("plain"), tmp_path / "plain")
    texts = written(class_with(f"a {payload}"), tmp_path / "hostile")

    assert Tags(texts["gradebook.html"]).tags == Tags(plain["gradebook.html"]).tags
    rows = list(csv.reader(texts["gradebook.csv"].splitlines()))
    assert [len(row) for row in rows] == [len(rows[0])] * 3
    assert not [cell for cell in itertools.chain(*rows) if cell[:1] in {"=", "+", "-", "@"}]
    assert "\x1b" not in "".join(texts.values())


def test_folder_names_differ_on_every_file_system():
    odd = ["ada", "Ada", "a/b", "a_b", "..", "con", "é", "e\u0301", "x" * 300, ""]
    students = [*odd, *feedback.folder_names(odd)[1:]]  # some are called what others get

    names = feedback.folder_names(students)

    assert len({name.casefold() for name in names}) == len(names)
    assert not [n for n in names if "/" in n or n.startswith(".") or len(n.encode()) > 255 or not n]
    assert feedback.folder_names(["zoe", "con"])[0] == "zoe"


# --- adjustments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("student,points\nada,3\n", "has no column reason"),
        ("student,points,reason\neve,3,x\n", "row 2: no single student is called 'eve'"),
        ("student,points,reason\n\nada,three,x\n", "row 3: 'three' is not a number"),
        ("student,points,reason\nada,nan,x\n", "'nan' is not a number"),
        ("student,points,reason\nada,1e308,x\n", "'1e308' is not a number"),
        ('student,points,reason\nada,"1,000",x\n', "'1,000' is not a number of points; write"),
        ('student,points,reason\nada,"0,125",x\n', "'0,125' is not a number of points; write"),
        ("student,points,reason\nada,1000001,x\n", "write one between -1000000 and 1000000"),
        ("student,points,reason\nada,3,x\nADA@x,3.0,x\n", "row 3: repeats a row above"),
        ("student,points,reason\nada,3,\n", "gives no reason"),
        ("student,points,reason\nada,3,5,late\n", "row 2: has more cells than the first line"),
        (None, "cannot be read"),  # a broken link
    ],
)
def test_an_adjustment_that_cannot_be_read_is_one_line(text, words, tmp_path):
    path = tmp_path / config.ADJUSTMENTS
    path.symlink_to(tmp_path / "linked")
    if text is not None:
        path.write_text(text, "utf-8")

    with pytest.raises(FileError, match=words):
        config.read_adjustments(path, [Entry("ada", "Ada", ids={"login": "ada", "email": "ada@x"})])


@pytest.mark.parametrize("student", ["1", "01", "'1", "ADA", "ada@x.example", "Ada Lovelace"])
def test_an_adjustment_names_a_student_by_any_id_of_the_list(student, tmp_path):
    path = tmp_path / config.ADJUSTMENTS
    path.write_text(f'student,points,reason\n{student},"\u22122,5",late\n', "utf-8")
    ids = {"id": "1", "login": "ada", "email": "ada@x.example"}
    ada = Entry("1", "Ada Lovelace", ids=ids)

    config.read_adjustments(path, [ada, Entry("2", "Alan Turing", ids={"login": "at"})])

    assert ada.adjustments == [Adjustment(-2.5, "late")]


# --- for the class ------------------------------------------------------------------------------


def test_the_page_for_the_class_has_no_word_of_a_student_and_no_rare_mistake(assignment):
    course = open_course(assignment)
    entries = [classes.entry(str(n), result("no_bias", "secret")) for n in range(3)]
    entries += [classes.entry("9", result("flipped", "secret"))]

    page = teach.page(entries, SAYS, course)

    assert Tags(page).open == []
    own = page.partition('id="exercise-conv"')[2].partition("</section>")[0]
    assert "the bias is missing" in own
    assert "3 of 4" in own
    assert not re.search("flipped|secret", page)
    assert "Passed" not in teach.page(entries[:1], SAYS, course)
    for entry in entries[:3]:
        entry.exercises[0]["findings"][0]["headline"] = "detector.py cannot be imported"
    assert "3 could not be imported" in teach.page(entries, SAYS, course)
    assert "could not be imported" not in teach.page(entries[1:], SAYS, course)
