"""Invalid adjustments and late rules stop a run with one line, before anything is written."""

from collections.abc import Callable
from pathlib import Path

import pytest
from courses import HEAD, Course, whole

from grader.assignment import ASSIGNMENT
from tensormark.classroom.entry import HandIn
from tensormark.classroom.failure import FileError
from tensormark.classroom.points.adjustments import read_adjustments

BAD_ROWS = {
    "adda,,+1,,,": "line 2: there is no student 'adda'; take a name from",
    "Twin,,+1,,,": "line 2: several students match 'Twin'; take a name from",
    "10001,atention,+1,,,": "line 2: there is no exercise 'atention' here; choose from attention,",
    "10001,adamw,+1,,,": "line 2: adamw is a bonus exercise, outside the score; leave",
    "10001,,two,,,": "line 2: 'two' is not a number of points; write 2 or -1.5 for a change, or",
    "10001,,=20,,,": "line 2: '=20' is not a number of points; write",
    "10001,,nan,,,": "line 2: 'nan' is not a number of points; write",
    "10001,,-inf,,,": "line 2: '-inf' is not a number of points; write",
    "10001,,1e3,,,": "line 2: '1e3' is not a number of points; write",
    "10001,,\u0661,,,": "is not a number of points; write",
    "10001,,1.23456,,,": "line 2: '1.23456' is not a number of points; write",
    '10001,,"1,5",,,': "line 2: '1,5' is not a number of points; write",
    "10001,,+101,,,": "line 2: 101 is out of range; the total has 100 points",
    "10001,attention,-26,,,": "line 2: -26 is out of range; attention has 25 points",
    "10001,,to -1,,,": "line 2: -1 is out of range; the total has 100 points",
    "10001,,to 101,,,": "line 2: 101 is out of range; the total has 100 points",
    "10001,,+1,2026-11-22,,": "line 2: has both points and a deadline; use a row for each",
    "10001,,,,why,": "line 2: has neither points nor a deadline; give one of them",
    "10001,,,soon,,": "line 2: 'soon' must be like 2027-03-01T18:00",
    "10001,,,2026-11-19,,": "line 2: is before the class's deadline or over a year after",
    "10001,,,2062-11-22,,": "line 2: is before the class's deadline or over a year after",
    "10001,attention,,2026-11-22,,": "line 2: a deadline applies to all exercises; leave",
    "10001,,to 5,,,\n10001,,to 6,,,": "line 3: sets the total again, after line 2; keep one",
    "10001,embed,to 5,,,\nlogin1,embed,to 6,,,": "line 3: sets embed again, after line 2; keep",
    "10001,,,2026-11-22,,\n10001,,,2026-11-23,,": "line 3: sets the deadline again, after line 2",
    "10001,,to 5,,,\n\n10001,embed,+1,,,": "line 4: would have no effect, because line 2 sets",
    "10001,embed,+1,,,\n10001,,to 5,,,": "line 2: would have no effect, because line 3 sets",
    "10001,,+1,,x,\n10001,total,1,,x,": "line 3: is the same as line 2; remove one of them",
    "10001,,+1,,late, and so on,,AB": "line 2: has more cells than the first line; quote any text",
    '10001,,+1,,"x,': "line 2: not a CSV file (",
    "10001,,+1,,\x1b[2J\u202e,\n\x1b[2J\u202e,,+1,,,": "line 3: there is no student '",
}


@pytest.mark.parametrize("rows", BAD_ROWS)
def test_a_bad_row_is_one_error_line_with_its_place_and_nothing_is_written(
    course: Course, rows: str
) -> None:
    course.add(1, whole())
    course.add(2, whole(), name="Twin")
    course.add(3, whole(), name="Twin")

    message = course.refused(course.rows(rows))

    assert message.startswith(f"class: {course.folder / 'adjustments.csv'}, line ")
    assert BAD_ROWS[rows] in message


def test_an_exercise_that_is_left_out_cannot_be_adjusted(course: Course) -> None:
    course.add(1, whole())

    message = course.refused("--check", course.rows("10001,sentiment,+1,,,"))

    assert "line 2: there is no exercise 'sentiment' here" in message


def test_the_login_of_one_of_two_students_with_the_same_name_is_ambiguous(tmp_path: Path) -> None:
    (tmp_path / "adjustments.csv").write_text(f"{HEAD}login1,,+1,,,", encoding="utf-8")
    twins = [HandIn("Twin", "Twin", None, keys=(f"login{n}",)) for n in (1, 2)]

    with pytest.raises(FileError, match="line 2: several students match 'login1'"):
        read_adjustments(tmp_path / "adjustments.csv", twins, ASSIGNMENT)


BAD_FILES: dict[str, tuple[bytes, str]] = {
    "no student": (b"name,points\n", "'name' is not a column; the columns are student,exercise,"),
    "twice": (b"student,points,points\n", "'points' appears twice; the columns are student,"),
    "half": (b"student,reason\n", "its first line must be student,exercise,points,"),
    "empty": (b"", "its first line must be student,exercise,points,"),
    "latin": (HEAD.encode() + b"J\xfcrgen,,+1,,,", "is not UTF-8 text; save it as UTF-8"),
    "large": (b"x" * ((1 << 20) + 1), "is larger than 1 MiB; name another file"),
    "many": (
        HEAD.encode() + b"10001,,+1,,,\n" * 10_001,
        "line 10002: is beyond the limit of 10000 rows",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_an_invalid_adjustments_file_is_one_error_line(course: Course, name: str) -> None:
    course.add(1, whole())
    content, message = BAD_FILES[name]
    path = course.folder / "adjustments.csv"
    path.write_bytes(content)

    assert message in course.refused(f"--adjustments={path}")


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
@pytest.mark.parametrize("name", ["adjustments", "rule"])
def test_a_path_that_is_not_a_regular_file_is_not_read(
    course: Course, name: str, make: Callable[[Path], None]
) -> None:
    course.add(1, whole())
    make(course.folder / "x")

    assert f"{course.folder / 'x'}: is a" in course.refused(f"--{name}={course.folder / 'x'}")


def test_files_as_spreadsheets_write_them_are_read(course: Course) -> None:
    ada = course.add(1, whole())
    head = "\ufeffStudent;EXERCISE;Points;;\r\n"

    course.rows(f"{ada};Total;+5;;\r", ";;;;\r", f"{ada};;-1.5;;\r", head=head)
    assert course.final(ada, f"--adjustments={course.folder / 'adjustments.csv'}") == (
        "75.5",
        "72 + 5 - 1.5 = 75.5",
    )


BAD_RULES = {
    "points": "is not TOML: ",
    "points = " + "[" * 5000: "is not TOML: ",
    "points = " + "9" * 5000: "is not TOML: ",
    "points = 1e99999999999999999999": "is not TOML: ",
    "per = 'day'": "give either points or percent, such as points = 5",
    "points = 5\npercent = 5": "give either points or percent, such as points = 5",
    "point = 5": "there is no key 'point'; use points, percent,",
    "points = 5\nper = 'week'": 'per must be "day" or "hour"',
    "percent = 5\nof = ['score']": 'of must be "maximum" or "score"',
    "points = 5\nof = 'score'": "`of` requires percent; remove it, or",
    "points = nan": "points must be a number with at most 4 decimals, 0.0001 to 1000",
    "points = inf": "points must be a number",
    "points = -5": "points must be a number",
    "points = 0": "points must be a number",
    "points = true": "points must be a number",
    "points = '5'": "points must be a number",
    "points = 0.00001": "points must be a number",
    "points = 1.00001": "points must be a number",
    "percent = 101": "percent must be a number with at most 4 decimals, 0.0001 to 100",
    "points = 5\nmost = 0": "most must be a number",
    "points = 5\ngrace_minutes = 1.5": "grace_minutes must be a whole number, 0 to 10080",
    "points = 5\nwritten = 1": "written must be true or false",
    "points = 5\nzero_after_days = 0": "zero_after_days must be a whole number, 1 to 366",
}


@pytest.mark.parametrize("text", BAD_RULES, ids=range(len(BAD_RULES)))
def test_a_bad_rule_is_one_error_line(course: Course, text: str) -> None:
    course.add(1, whole())

    message = course.refused(course.rule(text))

    assert message.startswith(f"class: {course.folder / 'late.toml'}: {BAD_RULES[text]}")


def test_a_rule_needs_a_deadline(course: Course) -> None:
    course.add(1, whole())
    course.deadline = None

    assert "late.toml: needs a deadline; give DEADLINE= as well" in course.refused(course.rule())
