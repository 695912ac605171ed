"""The sheet for marks of written questions: how it is written, and which files are refused."""

import csv
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from courses import SHEET, Course, whole

from test_payloads import PAYLOADS, is_clean

BAD_ROWS = {
    "adda,1,,,,": "line 2: there is no student 'adda'; take a name from",
    "Twin,1,,,,": "line 2: several students match 'Twin'; take a name from",
    ",1,,,,": "line 2: there is no student ''; take a name from",
    "adda,,a comment,,,": "line 2: there is no student 'adda'",
    "10001,good,,,,": "line 2: memory: 'good' is not points; write a number such as 1.5, or",
    "10001,-1,,,,": "line 2: memory: '-1' is not points; write",
    "10001,+1,,,,": "line 2: memory: '+1' is not points; write",
    "10001,=1,,,,": "line 2: memory: '=1' is not points; write",
    '10001,"1,5",,,,': "line 2: memory: '1,5' is not points; write a number such as 1.5, or",
    "10001,nan,,,,": "line 2: memory: 'nan' is not points; write",
    "10001,1e3,,,,": "line 2: memory: '1e3' is not points; write",
    "10001,\u0661,,,,": "is not points; write",
    "10001,0.00001,,,,": "line 2: memory: '0.00001' is not points; write",
    "10001,2++1,,,,": "line 2: memory: '2++1' is not points; write a number such as 1.5, or",
    "10001,4.5,,,,": "line 2: memory: 4.5 is out of range; the question has 4",
    "10001,,,2.01,,": "line 2: rate: 2.01 is out of range; the question has 2",
    "10001,2+2+0,,,,": "line 2: memory: 2 is out of range; that item of the rubric has 1",
    "10001,2+1,,,,": "line 2: memory: 2+1 is not one number for each item of the rubric",
    "10001,1,,,,\n\n10001,1,,,,": "line 4: 10001 already has a row, line 2; keep one of them",
    "10001,1,,,,\nlogin1,,,1,,": "line 3: login1 already has a row, line 2; keep one of them",
    # 010001 that a spreadsheet took for a number, and 10001, who has no marks yet
    "10001,1,,,,\n10001,,,,,": "line 3: 10001 already has a row, line 2; keep one of them",
    "10001,1,late, and so on,,,AB": "line 2: has more cells than the first line; quote text",
    '10001,1,"x,': "line 2: not a CSV file (",
    f"10001,1,{'x' * 1001},,,": "line 2: memory: the comment has 1001 characters; shorten it to 10",
    "10001,1,\x1b[2J\u202e,,,\n\x1b[2J\u202e,1,,,,": "line 3: there is no student '",
    "10001,\x1b[2J\u202e,,,,": "is not points; write",
}


@pytest.mark.parametrize("rows", BAD_ROWS, ids=range(len(BAD_ROWS)))
def test_a_bad_row_is_one_line_with_its_place_and_nothing_is_written(
    course: Course, rows: str
) -> None:
    course.add(1, whole())
    course.add(2, whole(), name="Twin")
    course.add(3, whole(), name="Twin")
    good = course.sheet("10002,4,,2,,AB", name="good.csv")

    message = course.refused(f"--written={good},{course.sheet(rows)}")

    assert message.startswith(f"class: {course.folder / 'sheet.csv'}, line ")
    assert BAD_ROWS[rows] in message


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "no sheet": (b"id,name\n", "'id' is not a column; `make sheet` writes a sheet"),
    "other points": (
        SHEET.replace("2 + 1 + 1", "3 + 1").encode(),
        "'memory (3 + 1)' is not a column; it is now 'memory (2 + 1 + 1)'",
    ),
    "twice": (b"student,who,who\n", "'who' occurs twice; delete one of the columns"),
    "nobody": (b"name,who\n", "has no column student; `make sheet` writes a sheet"),
    "empty": (b"", "has no column student; `make sheet` writes a sheet"),
    "latin": (SHEET.encode() + b"10001,1,J\xfcrgen,,,", "is not UTF-8 text; save it as UTF-8"),
    "large": (b"x" * ((32 << 20) + 1), "is larger than 32 MiB; name another file"),
    "many": (SHEET.encode() + b"nobody,,,,,\n" * 200_001, "line 200002: is beyond 200000 rows"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_is_not_a_sheet_is_one_line(course: Course, name: str) -> None:
    course.add(1, whole())
    content, reason = BAD_FILES[name]
    path = course.folder / "sheet.csv"
    path.write_bytes(content)

    message = course.refused(f"--written={path}")

    assert message.startswith(f"class: {path}")
    assert reason in message


def link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (Path.mkdir, "there is no .csv file in"),
        (link_to_device, "is a pipe, a socket or a device; name a file"),
        (lambda path: None, "cannot be read (No such file or directory)"),
    ],
)
def test_a_path_that_is_not_a_file_is_not_read(
    course: Course, make: Callable[[Path], None], reason: str
) -> None:
    course.add(1, whole())
    make(course.folder / "x")

    assert reason in course.refused(f"--written={course.folder / 'x'}")


def test_a_sheet_that_is_named_twice_is_an_error(course: Course) -> None:
    course.add(1, whole())
    path = course.sheet("10001,1,,,,")

    message = course.refused(f"--written={path},{path.parent}/./sheet.csv")

    assert "sheet.csv twice; remove one" in message


def test_a_sheet_as_spreadsheets_write_it_is_read(course: Course) -> None:
    ada = course.add(1, whole(50))
    head = "\ufeffRate (1.5 + 0.5);STUDENT;Memory  (2 + 1 + 1);memory comment;;\r\n"
    rows = (f'1.5;{ada};1 + 0.5+1;"two\r\nlines";;\r', ";;;;;\r", ";10009;;;;\r")

    assert course.grade(f"--written={course.sheet(*rows, head=head)}") == 0

    row = course.gradebook()[ada]
    assert (row["memory"], row["rate"], row["final"]) == ("2.5", "1.5", "54")


# --- how it is written ----------------------------------------------------------------------------


def rows_of(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def test_a_sheet_has_a_row_for_each_student_and_can_be_read(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    ada = course.add(1, whole(), name="=Ada")
    course.roster.append("10002,,Nobody,")
    course.add(3, whole())

    assert course.write_sheet() == 0

    head, *rows = rows_of(course.folder / "sheet.csv")
    assert head == ["student", "name", *SHEET.strip().split(",")[1:]]
    assert [row[:2] for row in rows] == [
        [ada, "'=Ada"],
        ["10002", "Nobody"],
        ["10003", "Student No3"],
    ]
    assert all(cell == "" for row in rows for cell in row[2:])
    text = capsys.readouterr().out
    assert "sheet.csv: 3 students, 2 questions, 6 points\nnext: fill it in, and make class" in text
    assert course.grade(f"--written={course.folder / 'sheet.csv'}") == 0
    text = capsys.readouterr().out
    assert "0 students marked in full, 0 in part, 3 not at all (1 handed in nothing)\n" in text


def test_students_with_any_name_have_a_row_that_is_found_again(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [text for text in PAYLOADS if "\0" not in text and text.strip()]
    lines = ["id,name"]
    for number, name in enumerate(names):
        quoted = name.replace('"', '""').encode("utf-8", "replace").decode()
        lines.append(f'"{number}{quoted}","{quoted}"' if number % 2 else f'"{quoted}",x')
    (course.folder / "in/none of these.py").write_text("x", encoding="utf-8")
    course.roster = lines

    assert course.write_sheet() == 0
    path = course.folder / "sheet.csv"
    head, *rows = rows_of(path)
    assert is_clean(capsys.readouterr().out)
    assert len(rows) == len(names) + 1
    assert all(is_clean(cell) for row in rows for cell in row)

    filled = [[*row[:2], "2", "", "1", "", ""] for row in rows]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *filled])
    course.results["x"] = whole()
    course.grade(f"--written={path}")
    book = course.gradebook()
    assert len(book) == len(rows)
    assert {row["written"] for row in book.values()} == {"3"}


def test_students_who_cannot_be_told_apart_are_named_and_have_no_row(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "x" * 500
    course.roster = ["id,name", "=a,A", "'=a,B", "c,C", f"{long}1,D", f"{long}2,E"]
    (course.folder / "in/c.py").write_text("c", encoding="utf-8")

    assert course.write_sheet() == 0

    assert [row[0] for row in rows_of(course.folder / "sheet.csv")[1:]] == ["''=a", "c"]
    text = capsys.readouterr().out
    assert f"left out, as their names are ambiguous: =a (A), {long[:60]} ..., {long[:60]}" in text
    for name in ("'=a", f"{long} ..."):
        sheet = course.sheet(f"{name},1,,,,")
        assert "several students match " in course.refused(f"--written={sheet}")


def test_a_hand_in_that_is_nobodys_has_no_row(course: Course) -> None:
    course.roster = ["id,name", "1,Twin", "2,Twin"]
    (course.folder / "in/Twin.py").write_text("c", encoding="utf-8")

    assert course.write_sheet() == 0

    assert [row[0] for row in rows_of(course.folder / "sheet.csv")[1:]] == ["1", "2"]


def test_an_empty_sheet_is_rewritten_with_new_students(course: Course) -> None:
    course.add(1, whole())
    course.write_sheet()
    course.add(2, whole())

    assert course.write_sheet() == 0

    assert len(rows_of(course.folder / "sheet.csv")) == 3


NOT_OVERWRITTEN = {
    "points": SHEET + "10001,Ada,0,,,,",
    "comment": SHEET + "10001,Ada,,x,,,",
    "who": SHEET + "10001,Ada,,,,,AB",
    "no sheet": "student,name\n10001,Ada\n",
    "nothing": "",
    "another rubric": SHEET.replace("0.5", "1"),
}


@pytest.mark.parametrize("name", NOT_OVERWRITTEN)
def test_nothing_but_an_empty_sheet_is_overwritten(
    course: Course, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    course.add(1, whole())
    path = course.sheet(
        head=NOT_OVERWRITTEN[name].replace("student,memory", "student,name,memory", 1)
    )
    before = path.read_bytes()

    assert course.write_sheet() == 2

    error = capsys.readouterr().err
    assert f"sheet: OUT={path}: exists, and is not an empty sheet of this rubric; name an" in error
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "make", [Path.mkdir, link_to_device, lambda path: path.symlink_to("nowhere")]
)
def test_a_path_that_is_not_a_file_is_not_replaced(
    course: Course, make: Callable[[Path], None]
) -> None:
    course.add(1, whole())
    make(course.folder / "sheet.csv")

    assert course.write_sheet() == 2

    assert not (course.folder / "sheet.csv").is_file()


def test_a_sheet_is_written_completely_or_not_at_all(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course.add(1, whole())

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)

    assert course.write_sheet() == 2

    assert "No space left on device" in capsys.readouterr().err
    assert {path.name for path in course.folder.iterdir()} == {"in", "roster.csv"}


def test_no_sheet_is_written_into_the_folder_of_submissions(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.add(1, whole())

    assert course.write_sheet(f"--out={course.folder / 'in/sheet.csv'}") == 2

    assert "must not be inside the folder with the submissions" in capsys.readouterr().err
