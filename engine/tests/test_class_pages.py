"""What is written about a class, from made-up entries, and what students' text does in it."""

import csv
import dataclasses
import json
import re
import zipfile
from pathlib import Path

import pytest

import classes
from classes import SAYS, result, rows_in
from formats import Tags
from payloads import PAYLOADS
from tensormark.authoring.course import open_course
from tensormark.classroom import adjustments, entry, feedback, gradebook, returned, teach
from tensormark.classroom.adjustments import Adjustment
from tensormark.classroom.find import Found, read_list
from tensormark.classroom.hand_in import HandIn
from tensormark.classroom.people import FileError
from tensormark.classroom.platforms import BY_NAME
from tensormark.exercise import Assignment

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (8)\n    Points Possible,,,,,80\n"
    '"Lovelace, Ada",1,s1,ada,A,\n"Turing, Alan",2,s2,alan,A,50\n"Hopper, Grace",3,,grace,A,EX\n'
    '"=Noether, Emmy",4,,emmy,A,\n'
)
MOODLE = (
    "Identifier,Full name,Grade,Maximum Grade,Grade can be changed,Last modified (grade)\n"
    "Participant 1,Ada Lovelace,,80.00,Yes,-\nParticipant 2,Alan Turing,50.00,80.00,Yes,-\n"
    "Participant 3,Grace Hopper,,80.00,No,-\nParticipant 4,Emmy Noether,,80.00,Yes,-\n"
)


def a_class() -> list[entry.Entry]:
    return [
        classes.entry("ada", result()),
        classes.entry("alan", result("no_bias")),
        classes.entry("grace", result("flipped+no_bias"), adjustments=[Adjustment(-5, "late")]),
        classes.entry("emmy"),
    ]


def written(entries: list[entry.Entry], folder: Path) -> dict[str, str]:
    """Write everything about a class; return its texts by name."""
    common = entry.note_flags(entries)
    feedback.write(entries, folder)
    texts = {path.parent.name: path.read_text("utf-8") for path in folder.rglob("report.html")}
    return {
        **texts,
        "gradebook.csv": gradebook.table(entries),
        "gradebook.html": gradebook.page(entries, SAYS, common),
    }


def test_the_gradebook_has_a_line_for_everybody(tmp_path: Path) -> None:
    (tmp_path / "gradebook.csv").write_text(gradebook.table(a_class()), encoding="utf-8")

    rows = rows_in(tmp_path / "gradebook.csv")

    assert {name: (row["score"], row["points"], row["conv"]) for name, row in rows.items()} == {
        "ada": ("80", "80", "40"),
        "alan": ("50", "50", "10"),
        "grace": ("50", "45", "10"),
        "emmy": ("", "", ""),
    }
    assert rows["grace"]["notes"] == "adjusted by -5: late"
    assert rows["emmy"]["status"] == "not handed in"


def test_the_page_counts_and_shows_who_made_which_mistake(tmp_path: Path) -> None:
    page = written(a_class(), tmp_path)["gradebook.html"]

    assert Tags(page).open == []
    assert "<b>4</b>students" in page
    assert re.search(r"2 of 3</span>.*the bias is missing.*data-show=\"m0\"", page)
    assert page.count('<tr role="row" data-tags') == 4
    assert [tags for tags in re.findall('data-tags="([^"]*)"', page) if "m0" in tags.split()] == [
        "k0 m0",
        "k0 noted m0 m1",
    ]


def test_a_flag_that_most_have_says_nothing_about_anybody() -> None:
    flags = (["a", "b"], ["a"], ["a"], [])
    entries = [classes.entry(str(n), result(flags=own)) for n, own in enumerate(flags)]

    assert entry.note_flags(entries) == ["a"]
    assert [each.flags for each in entries] == [["b"], [], [], []]


def test_files_that_differ_in_comments_and_layout_are_equal() -> None:
    given = "def f():\n    raise NotImplementedError\n"
    texts = ["x = 1  # mine\n", "\nx  =  1\r\n", "x = 2\n", given, given]
    entries = [classes.entry(str(n), result()) for n in range(len(texts))]
    for each, text in zip(entries, texts, strict=True):
        assert each.work
        each.work = dataclasses.replace(each.work, sources={"detector": text})

    entry.note_equal(entries, {"detector": given})

    assert [list(each.equal) for each in entries] == [["1"], ["0"], [], [], []]


def test_a_student_gets_nothing_that_is_for_staff(tmp_path: Path) -> None:
    flagged = classes.entry("ada", result("no_bias", "secret", ["a flag"]))
    excerpt = {"kind": "an excerpt"}
    flagged.result["exercises"][0]["findings"][0]["excerpt"] = excerpt  # type: ignore[index]

    written([flagged], tmp_path)

    files = [path.read_text("utf-8") for path in tmp_path.rglob("*.*") if path.is_file()]
    assert len(files) == 2
    assert not [text for text in files if "a flag" in text or "an excerpt" in text]
    assert json.loads(files[-1] if files[-1].startswith("{") else files[0])["printed"] == ""


@pytest.mark.parametrize("payload", PAYLOADS, ids=ascii)
def test_texts_of_students_act_nowhere(payload: str, tmp_path: Path) -> None:
    def hostile(text: str) -> list[entry.Entry]:
        student = HandIn(text[:40], f"{text} x", Path("x"), notes=(text,))
        other = HandIn(f"{text[:40]}2", f"{text} x", fault=text)
        model = result("no_bias", text, [text])
        work = classes.entry("x", model).work
        return [entry.Entry(student, work, result=model), entry.Entry(other, problem=text)]

    plain = written(hostile("plain"), tmp_path / "plain")
    texts = written(hostile(f"a {payload}"), tmp_path / "hostile")

    assert Tags(texts["gradebook.html"]).tags == Tags(plain["gradebook.html"]).tags
    rows = list(csv.reader(texts["gradebook.csv"].splitlines()))
    assert [len(row) for row in rows] == [len(rows[0])] * 3
    assert not [cell for row in rows for cell in row if cell[:1] in {"=", "+", "-", "@"}]
    assert "\x1b" not in "".join(texts.values())


def test_folder_names_differ_on_every_file_system() -> None:
    students = ["ada", "Ada", "a/b", "a_b", "..", "con", "é", "e\u0301", "x" * 300, "", "ada"]

    names = feedback.folder_names(students)

    assert len({name.casefold() for name in names}) == len(names)
    assert names[0] != names[1]
    assert not [n for n in names if "/" in n or n.startswith(".") or len(n.encode()) > 255 or not n]


# --- what goes back ---------------------------------------------------------------------------


def of_platform(name: str, people: str, folder: Path) -> tuple[list[entry.Entry], Found]:
    path = folder / "list.csv"
    path.write_text(people, encoding="utf-8")
    class_list, platform = read_list(path)
    assert platform is BY_NAME[name]
    files = ["lovelaceada_1_10_detector.py", "turingalan_2_11_detector.zip", "gh_3_12_detector.py"]
    models = [result(), result("no_bias"), result()]
    entries = [
        dataclasses.replace(
            classes.entry("x", model),
            hand_in=HandIn(person.student, person.name, Path(file), place=place),
        )
        for place, (person, file, model) in enumerate(
            zip(class_list.people, files, models, strict=False)
        )
    ]
    emmy = class_list.people[3]
    entries.append(entry.Entry(HandIn(emmy.student, emmy.name, place=3), problem="not handed in"))
    found = Found(folder, platform, [each.hand_in for each in entries], class_list, platform)
    return entries, found


def test_canvas_gets_marks_and_comments(tmp_path: Path) -> None:
    entries, found = of_platform("canvas", CANVAS, tmp_path)
    feedback.write(entries, tmp_path)

    lines = returned.write(entries, found, "Lab 1", tmp_path)

    rows = list(csv.reader((tmp_path / "canvas.csv").read_text("utf-8").splitlines()))
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab 1 (8)"],
        ["Lovelace, Ada", "1", "s1", "ada", "A", "80"],
        ["Turing, Alan", "2", "s2", "alan", "A", "50"],
    ]
    with zipfile.ZipFile(tmp_path / "canvas-feedback.zip") as archive:
        assert archive.namelist() == [
            "lovelaceada_1_10_detector.py",
            "turingalan_2_11_detector.zip",
            "gh_3_12_detector.py",
        ]
        text = archive.read("lovelaceada_1_10_detector.py").decode()
    assert all(line.startswith("#") for line in text.splitlines())
    assert "is excused in Canvas" in "".join(lines)
    assert "4 (=Noether, Emmy): not handed in" in "".join(lines)


def test_moodle_gets_marks_and_pages(tmp_path: Path) -> None:
    entries, found = of_platform("moodle", MOODLE, tmp_path)
    feedback.write(entries, tmp_path)

    lines = returned.write(entries, found, "", tmp_path)

    rows = list(csv.DictReader((tmp_path / "moodle.csv").read_text("utf-8").splitlines()))
    assert [row["Grade"] for row in rows] == ["80", "50", "", ""]
    assert rows[0]["Last modified (grade)"] == "-"
    with zipfile.ZipFile(tmp_path / "moodle-feedback.zip") as archive:
        assert archive.namelist()[0] == "Ada Lovelace_1_assignfeedback_file_report.html"
    assert "the grade cannot be changed" in "".join(lines)


def test_moodle_keeps_comments_as_they_are_and_has_no_other_formula(tmp_path: Path) -> None:
    titles, first, *rest = MOODLE.splitlines()
    worksheet = [f"{titles},Feedback comments", f'{first},"-2, -3 = late"', *rest]
    text = "\n".join([*worksheet, ""]).replace("Ada Lovelace", "=Ada")
    entries, found = of_platform("moodle", text, tmp_path)

    returned.write(entries, found, "", tmp_path)

    row, *_ = csv.DictReader((tmp_path / "moodle.csv").read_text("utf-8").splitlines())
    assert (row["Feedback comments"], row["Full name"]) == ("-2, -3 = late", "'=Ada")


@pytest.mark.parametrize(
    ("people", "column", "words"),
    [
        (CANVAS, "Lab 9", "no column titled 'Lab 9'"),
        (CANVAS, "", "class.toml does not say which column"),
        (MOODLE.replace("80.00", "90.00"), "", "the maximum grade is 90 in Moodle, 80 here"),
        (MOODLE.replace(",Maximum Grade", ",Scale"), "", "on a scale"),
    ],
)
def test_a_list_that_cannot_be_filled_in_is_a_line(
    people: str, column: str, words: str, tmp_path: Path
) -> None:
    name = "canvas" if people is CANVAS else "moodle"
    entries, found = of_platform(name, people, tmp_path)

    lines = returned.write(entries, found, column, tmp_path)

    assert words in "\n".join(lines)
    assert not (tmp_path / f"{name}.csv").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("student,points\nada,3\n", "has no column reason"),
        ("student,points,reason\neve,3,x\n", "row 2: no one student is 'eve'"),
        ("student,points,reason\nada,three,x\n", "'three' is not a number"),
        ("student,points,reason\nada,nan,x\n", "'nan' is not a number"),
        ("student,points,reason\nada,1e308,x\n", "'1e308' is not a number"),
        ("student,points,reason\nada,3,\n", "gives no reason"),
        ("student,points,reason\nada,3,5,late\n", "row 2: has more cells than the first line"),
    ],
)
def test_an_adjustment_that_cannot_be_read_is_one_line(
    text: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / adjustments.FILE
    path.write_text(text, encoding="utf-8")

    with pytest.raises(FileError, match=words):
        adjustments.read(path, [HandIn("ada", "Ada")])


def test_adjustments_behind_a_broken_link_are_not_left_out(tmp_path: Path) -> None:
    (tmp_path / adjustments.FILE).symlink_to(tmp_path / "nowhere")

    with pytest.raises(FileError, match="cannot be read"):
        adjustments.read(tmp_path / adjustments.FILE, [])


# --- for the class ------------------------------------------------------------------------------


def test_the_page_for_the_class_has_no_word_of_a_student_and_no_rare_mistake(
    assignment: Assignment,
) -> None:
    entries = [classes.entry(str(n), result("no_bias", "secret")) for n in range(3)]
    entries += [classes.entry("9", result("flipped", "secret"))]

    page = teach.page(entries, SAYS, open_course(assignment))

    assert Tags(page).open == []
    assert "the bias is missing" in page
    assert "3 of 4" in page
    assert "flipped" not in page
    assert "secret" not in page


def test_hardly_anybody_is_not_counted(assignment: Assignment) -> None:
    page = teach.page([classes.entry("1", result())], SAYS, open_course(assignment))

    assert "Fewer than 3" in page
    assert "Passed" not in page
