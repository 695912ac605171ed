"""Written questions in a class's grade: how sheets are combined, and what the final grade is."""

import csv
import re
from pathlib import Path

import courses
import pytest
from courses import Course, whole

from conftest import ROOT

Capture = pytest.CaptureFixture[str]


# --- from the sheet to the grade, with this assignment's own questions ----------------------------


def filled(sheet: Path, name: str, rows: dict[str, dict[str, str]]) -> Path:
    """Copy a sheet as an assistant would who fills in some cells."""
    with sheet.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    path = sheet.with_name(name)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        for row in table:
            titles = {title.partition(" (")[0]: title for title in row}
            cells = rows.get(row["student"], {})
            writer.writerow(row | {titles[title]: text for title, text in cells.items()})
    return path


FULL = dict(
    zip(
        "parameters operations memory padding gate rate frozen".split(),
        "3+2+1 6 2+0.5+1 4 3 1+2+0+2 4".split(),
        strict=True,
    )
)


def test_two_assistants_mark_a_class_and_settle_what_they_disagree_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    course = courses.course_in(tmp_path, monkeypatch)
    ada, grace = course.add(1, whole(72), late=1, name="Ada"), course.add(2, whole(50))
    alan, emmy = course.add(3, whole(100)), course.add(4, whole(60))
    assert course.write_sheet() == 0
    ours = FULL | {"who": "AB", "memory comment": "only one saving"}
    sheet = tmp_path / "sheet.csv"
    first = filled(sheet, "ab.csv", {ada: ours, grace: ours | {"rate": ""}})
    theirs = {"memory": "4", "rate": "0", "memory comment": "well <b>done</b>", "who": "CD"}
    second = filled(sheet, "cd.csv", {ada: {"gate": "3.0"}, grace: theirs, alan: {"rate": "1"}})
    rule = course.rule()
    capsys.readouterr()

    assert course.grade(f"--written={first},{second}", rule) == 0

    output = capsys.readouterr().out
    assert "written: 2 sheets: 1 student marked in full, 2 in part, 1 not at all\n" in output
    assert "written: 1 answer has different points in different sheets, so neither counts" in output
    both = f"3.5 (AB, {first}, line 3), 4 (CD, {second}, line 3)"
    assert f"  {grace} (Student No2), memory: {both}\n" in output
    assert f"final: none for 3 students, as their written answers are unsettled: {grace}" in output
    book = course.gradebook()
    assert book[ada]["how"] == "72 + 31.5 (written) - 5 (late: 1 day, 5 points each) = 98.5"
    assert [book[ada][name] for name in ("final", "written", "memory")] == ["98.5", "31.5", "3.5"]
    assert book[grace]["how"] == "written: sheets disagree on memory (3.5 or 4)"
    assert [book[grace][name] for name in ("final", "written", "memory", "rate")] == [
        *("", "", "", "0")
    ]
    assert book[alan]["how"].startswith("written: not marked: parameters, operations, memory, ")
    assert book[emmy]["how"] == "written: not marked"

    corrected = filled(sheet, "cd.csv", {grace: theirs | {"memory": "3.5"}})
    assert course.grade(f"--written={first},{corrected}", rule) == 0

    assert f"  {grace}: none before, 76.5 now\n" in capsys.readouterr().out
    assert course.gradebook()[grace]["how"] == "50 + 26.5 (written) = 76.5"
    assert course.graded == 4
    page = course.report(grace)
    assert "final: <b>76.5</b> / 134" in page
    assert 'only one saving</p><p class="said">well &lt;b&gt;done&lt;/b&gt;</p>' in page
    assert "AB" not in page
    assert "CD" not in page
    versions = "SELECT ledger, points FROM written WHERE student = ? AND question = 'memory'"
    assert course.ask(versions.replace("?", grace)) == [(1, None), (2, 3.5)]


def test_nothing_of_the_rubric_is_in_what_students_get(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = courses.course_in(tmp_path, monkeypatch)
    course.add(1, whole())
    title, points = "parameters (3 + 2 + 1)", "2+1.5+0.25"
    path = course.sheet(f"10001,{points},AB", head=f"student,{title},who\n")

    assert course.grade(f"--written={path}") == 0

    answers = (ROOT / "instructor/questions.md").read_text(encoding="utf-8")
    lines = re.findall(r"^- \d points?: (.{20})", answers, re.MULTILINE)
    assert len(lines) > 20
    for file in (course.out / "feedback/10001").iterdir():
        text = file.read_text(encoding="utf-8")
        assert "where the parameters are" in text
        assert not [line for line in lines if line in text]
        assert title not in text
        assert points not in text


# --- what counts ----------------------------------------------------------------------------------


def test_a_student_reads_settled_points_and_comments(course: Course) -> None:
    ada = course.add(1, whole(72))
    first = course.sheet(f"{ada},1.25,half,,only words,AB", name="a.csv")
    second = course.sheet(f"{ada},1.250,half,2,,CD", f"{ada}9,,,,,", name="b.csv")
    third = course.sheet(f"{ada},1.25,unlike,1,of course,EF", name="c.csv")

    assert course.grade(f"--written={first},{second},{third}") == 0

    model = course.feedback(ada)
    assert "final" not in model
    assert model["written"] == {
        "score": None,
        "max_score": 6,
        "questions": [
            {
                **{"id": "memory", "title": "about memory", "score": 1.25, "max_score": 4},
                "comments": ["half", "unlike"],
            },
            {
                **{"id": "rate", "title": "about rate", "score": None, "max_score": 2},
                "comments": [],
            },
        ],
    }
    page = course.report(ada)
    assert page.count("not marked yet") == 1
    assert "- / 6" in page
    assert course.ask("SELECT question, points, comments, who FROM written") == [
        ("memory", 1.25, "half\nunlike", "AB, CD, EF"),
        ("rate", None, "only words\nof course", "AB, CD, EF"),
    ]


def test_without_sheets_written_questions_are_mentioned_nowhere(course: Course) -> None:
    ada = course.add(1, whole(72))

    assert course.grade(course.rule()) == 0

    assert "written" not in course.gradebook()[ada]
    assert "written" not in course.feedback(ada)
    page = course.report(ada)
    assert "written question" not in page
    assert 'type="button">written' not in course.page()


@pytest.mark.parametrize(
    ("score", "rule", "late", "final"),
    [
        (72, "points = 5", 1, 73),
        (72, "points = 5\nwritten = true", 1, 73),
        (3, "points = 5\nwritten = true", 1, 4),
        (72, "percent = 10", 1, 68),
        (72, "percent = 10\nwritten = true", 1, 67.4),
        (72, 'percent = 10\nof = "score"', 1, 70.8),
        (72, 'percent = 10\nof = "score"\nwritten = true', 1, 70.2),
        (72, "points = 5\nzero_after_days = 1", 1441, 6),
        (72, "points = 5\nzero_after_days = 1\nwritten = true", 1441, 0),
        (72, "points = 5", None, 78),
    ],
)
def test_lateness_costs_written_points_only_if_the_rule_says_so(
    course: Course, score: float, rule: str, late: int | None, final: float
) -> None:
    ada = course.add(1, whole(score), late=late)
    sheet = course.sheet(f"{ada},4,,2,,")

    assert float(course.final(ada, course.rule(rule), f"--written={sheet}")[0]) == final


def test_lateness_takes_no_more_than_the_points_of_the_code_and_says_so(course: Course) -> None:
    ada = course.add(1, whole(3), late=1)
    sheet = course.sheet(f"{ada},4,,2,,")

    why = "3 (late: 1 day, 5 points each, at most the points of the code)"
    assert course.final(ada, course.rule(), f"--written={sheet}") == (
        "6",
        f"3 + 6 (written) - {why} = 6",
    )


def test_lateness_gives_nothing_to_a_student_who_is_already_below_0(course: Course) -> None:
    ada = course.add(1, whole(3), late=1)
    sheet, rows = course.sheet(f"{ada},4,,2,,"), course.rows(f"{ada},attention,-5,,,")

    assert course.final(ada, course.rule(), rows, f"--written={sheet}")[0] == "4"


def test_changes_of_points_are_added_and_a_total_that_is_set_overrides_them(
    course: Course, capsys: Capture
) -> None:
    ada, grace = course.add(1, whole(90)), course.add(2, whole(72))
    sheet = course.sheet(f"{ada},4,,0,,", f"{grace},,,,,")
    rows = course.rows(f"{ada},attention,+5,,regrade,AB", f"{grace},,to 106,,oral,")

    assert course.grade(rows, f"--written={sheet}") == 0
    book = course.gradebook()
    assert book[ada]["how"] == "90 + 5 (attention: regrade, AB) + 4 (written) = 99"
    assert book[grace]["how"] == "106 (set: oral) = 106"
    assert "final: none for" not in capsys.readouterr().out

    message = course.refused(course.rows(f"{ada},,to 107,,,"), f"--written={sheet}")
    assert "107 is out of range; the total has 106 points" in message


def test_written_points_without_a_score_are_reported(course: Course, capsys: Capture) -> None:
    ada = course.add(1, whole(50, attention=None))
    course.roster.append("10002,,Nobody,")
    sheet = course.sheet(f"{ada},4,,2,,", "10002,1,,1,,")

    assert course.grade(f"--written={sheet}") == 3

    book = course.gradebook()
    assert [(row["written"], row["final"], row["how"]) for row in book.values()] == [
        ("6", "", ""),
        ("2", "", ""),
    ]
    output = capsys.readouterr().out
    assert f"final: 2 students with written points, but without a complete score: {ada}" in output


def test_canvas_gets_the_written_points_with_the_others(course: Course, capsys: Capture) -> None:
    ada, grace = course.add(1, whole(72)), course.add(2, whole(60))
    export = course.folder / "export.csv"
    head = "Student,ID,Section,minBERT (8)\n    Points Possible,,,100\n"
    export.write_text(f"{head}A,{ada},x,\nB,{grace},x,\n", encoding="utf-8")
    sheet = course.sheet(f"{ada},4,,1.5,,", f"{grace},4,,,,")

    assert course.grade(f"--written={sheet}", "--canvas", str(export)) == 0

    rows = (course.out / "canvas.csv").read_text(encoding="utf-8").splitlines()
    assert [row.rpartition(",")[2] for row in rows[1:]] == ["77.5"]
    output = capsys.readouterr().out
    assert "Canvas: 100 points are possible there, 106 here; nothing is scaled\n" in output
    assert f"  {grace} (Student No2): written: not marked: rate\n" in output
