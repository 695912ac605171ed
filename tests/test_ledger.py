"""Final points of each student: how they are computed, and who sees how they came about."""

import json
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from courses import DEADLINE, HEAD, Course, whole

from tensormark.classroom.points.late import read_rule
from tensormark.classroom.points.ledger import UNKNOWN

import formats
from test_payloads import PAYLOADS, is_clean

# --- what is shown, and to whom -----------------------------------------------------------------


def test_final_and_how_it_came_about_are_in_every_report(course: Course) -> None:
    ada = course.add(1, whole(72), late=1441)
    grace = course.add(2, whole(60.5), late=-5)
    rows = (f"{ada},attention,+5,,regrade of attention,AB", f"{ada},total,-0.25,,,CD")

    assert course.grade(course.rows(*rows), course.rule()) == 0

    book = course.gradebook()
    how = (
        "72 + 5 (attention: regrade of attention, AB) - 0.25 (CD) "
        "- 10 (late: 2 days, 5 points each) = 66.75"
    )
    assert (book[ada]["final"], book[ada]["how"]) == ("66.75", how)
    assert (book[grace]["final"], book[grace]["how"]) == ("60.5", "")
    page = course.page()
    assert how in page
    assert 'data-value="66.75"' in page
    results = course.feedback(ada)
    steps = ["72 (score)", "+ 5 (attention: regrade of attention)", "- 0.25"]
    steps.append("- 10 (late: 2 days, 5 points each)")
    assert results["final"] == {"points": 66.75, "steps": steps}
    report = course.report(ada)
    assert "final: <b>66.75</b> / 100" in report
    assert report.index("<b>66.75</b>") < report.index("score: <b>72 / 100</b>")
    assert all(f"<li>{step}</li>" in report for step in steps)
    assert "AB" not in report + json.dumps(results)


def test_without_either_file_there_is_no_final(course: Course) -> None:
    ada = course.add(1, whole(72), late=1441)

    assert course.grade() == 0

    assert "final" not in course.gradebook()[ada]
    assert '"how"' not in course.page()
    assert "final" not in course.report(ada)
    assert course.ask("SELECT * FROM ledger") == course.ask("SELECT * FROM final") == []


def test_canvas_gets_final_where_there_is_one(course: Course) -> None:
    ada, grace = course.add(1, whole(72)), course.add(2, whole(60, attention=None))
    export = course.folder / "export.csv"
    text = f"Student,ID,Section,minBERT (8)\nA,{ada},x,\nB,{grace},x,\n"
    export.write_text(text, encoding="utf-8")

    def scores() -> list[str]:
        lines = (course.out / "canvas.csv").read_text(encoding="utf-8").splitlines()
        return [line.rpartition(",")[2] for line in lines[1:]]

    course.grade("--canvas", str(export))
    assert scores() == ["72"]
    course.grade("--canvas", str(export), course.rows(f"{ada},,-70.5,,,", f"{grace},,to 9,,,"))
    assert scores() == ["1.5", "9"]


def shapes(course: Course) -> dict[str, list[tuple[str, ...]]]:
    pages = course.out.rglob("*.html")
    return {str(page): formats.Tags(page.read_text(encoding="utf-8")).tags for page in pages}


def test_payloads_in_reasons_are_inert_in_every_output(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [payload.replace('"', '""').replace("\0", "") for payload in PAYLOADS]
    students = [course.add(number, whole()) for number in range(len(texts))]
    path = course.folder / "adjustments.csv"

    def grade(texts: Sequence[str]) -> None:
        rows = [
            f'{student},,{cell},"{text}","{text}"\n'
            for student, text in zip(students, texts, strict=True)
            for cell in ("+5,", ",2026-11-21")
        ]
        path.write_bytes((HEAD + "".join(rows)).encode("utf-8", "replace"))
        assert course.grade(f"--adjustments={path}") == 0

    grade(["harmless"] * len(texts))
    before = shapes(course)
    grade(texts)

    assert shapes(course) == before
    assert is_clean(capsys.readouterr().out)
    for row in course.gradebook().values():
        assert is_clean(row["how"])
        assert row["how"].startswith("72 + 5 (")
    assert all(is_clean(how) for (how,) in course.ask("SELECT how FROM final"))


# --- what counts ----------------------------------------------------------------------------------


def test_a_final_is_never_below_0_and_may_be_above_the_maximum(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    ada, grace = course.add(1, whole(3), late=1), course.add(2, whole(98))
    emmy = course.add(3, whole(0), late=1)

    final, how = course.final(ada, course.rule(), course.rows(f"{grace},,5,,prize,"))

    assert (final, how) == ("0", "3 - 5 (late: 1 day, 5 points each) = 0")
    assert course.gradebook()[grace]["final"] == "103"
    assert course.gradebook()[emmy]["how"] == "0 - 5 (late: 1 day, 5 points each) = 0"
    assert f"final: 1 student above the maximum: {grace}" in capsys.readouterr().out


def test_a_total_that_is_set_overrides_score_and_lateness(course: Course) -> None:
    ada, nobody = course.add(1, whole(80), late=9000), "10002"
    course.roster.append(f"{nobody},,Nobody,")
    rows = course.rows(f"{ada},,to 60,,by hand,AB", f"{ada},,+1,,,", f"{nobody},,TO 10,,oral,")

    assert course.final(ada, rows, course.rule()) == ("61", "60 (set: by hand, AB) + 1 = 61")
    assert course.gradebook()[nobody]["how"] == "10 (set: oral) = 10"

    assert course.grade(course.rows(f"{ada},,to 60,,by hand,AB")) == 0
    report = course.report(ada)
    assert "<li>60 (set: by hand)</li>" in report


def test_an_exercise_that_could_not_be_graded_can_be_set_but_not_changed(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    ada = course.add(1, whole(50, attention=None))
    change, sets = f"{ada},attention,+2,,,", f"{ada},attention,to 20,,,"

    assert course.grade(course.rows(change)) == 3
    assert course.gradebook()[ada]["final"] == ""
    message = f"final: 1 student with changes, but without a complete score to change: {ada}"
    assert message in capsys.readouterr().out

    assert course.grade(course.rows(sets, change)) == 3
    assert course.gradebook()[ada]["how"].startswith(
        "50 + 20 (attention set to 20) + 2 (attention)"
    )


def test_an_unknown_time_costs_nothing_and_is_reported(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    ada = course.add(1, whole(50), late=None)

    final, how = course.final(ada, course.rule())

    assert (final, how) == ("50", UNKNOWN)
    assert f"final: for 1 student {UNKNOWN}: {ada}" in capsys.readouterr().out


def test_the_times_in_moodles_worksheet_count_and_only_its_grades_change(course: Course) -> None:
    path = course.folder / "in/Ada_7_assignsubmission_file_/bert.py"
    path.parent.mkdir()
    path.write_text("ada", encoding="utf-8")
    course.results["ada"] = whole(60)
    late = (DEADLINE + timedelta(hours=25)).astimezone().strftime("%A, %d %B %Y, %I:%M %p")
    head = "Identifier,Full name,Grade,Last modified (submission),Last modified (grade)\n"
    worksheet = f'{head}Participant 7,Ada,,"{late}",-\n'
    course.roster = worksheet.split("\n")

    _, how = course.final("Participant 7", course.rule())

    assert how == "60 - 10 (late: 2 days, 5 points each) = 50"
    filled = (course.out / "moodle.csv").read_text(encoding="utf-8")
    assert filled == worksheet.replace("Ada,,", "Ada,50,")


def test_hand_ins_that_canvas_marks_late_are_reported_with_the_fix(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.add(1, whole(50), late=None)
    path = course.folder / "in/evee_LATE_777_12_bert.py"
    path.write_text("eve", encoding="utf-8")
    course.results["eve"] = whole(60)
    course.roster = ["id,name", "10001,Ada", "777,Eve"]

    assert course.final("777", course.rule()) == ("60", UNKNOWN)

    output = capsys.readouterr().out
    fix = "for RULE=, give ROSTER= with everybody's `submitted` time"
    warning = f"Canvas marks 1 hand-in LATE without saying by how much; {fix}"
    assert f"{warning}: 777 (Eve)\n" in output


@pytest.mark.parametrize(("late", "graded"), [("newest", "new"), ("before", "old")])
def test_a_students_own_deadline_decides_lateness_and_which_attempt_is_graded(
    course: Course, late: str, graded: str
) -> None:
    folder = course.folder / "in"
    for day, text in ((19, "older"), (21, "old"), (23, "new")):
        name = f"Project_ada_attempt_2026-11-{day}-12-00-00_bert.py"
        (folder / name).write_text(text, encoding="utf-8")
        course.results[text] = whole()
    course.roster = ["id,name", "ada,Ada"]
    adjustments = course.rows("Ada,,,2026-11-22T12:00,ill,AB")

    final, how = course.final("ada", adjustments, course.rule(), "--late", late)

    row = course.gradebook()["ada"]
    assert (graded == "new") == row["submission"].startswith("Project_ada_attempt_2026-11-23")
    assert row["minutes_late"] == ("1440" if graded == "new" else "0")
    assert final == ("67" if graded == "new" else "72")
    assert how.endswith("own deadline 2026-11-22 12:00 (ill, AB)")
    results = course.feedback("ada")
    assert results["final"]["steps"][-1] == "own deadline 2026-11-22 12:00 (ill)"


@pytest.mark.parametrize(
    ("late", "text", "expected"),
    [
        (15, "points = 5\ngrace_minutes = 15", 0),
        (16, "points = 5\ngrace_minutes = 15", 5),
        (1440, "points = 5", 5),
        (1441, "points = 5", 10),
        (61, 'points = 0.5\nper = "hour"', 1),
        (9 * 1440, "points = 5\nmost = 12.5", 12.5),
        (1, "percent = 10", 10),
        (1, 'percent = 10\nof = "score"', 7.2),
        (7 * 1440, "points = 1\nzero_after_days = 7", 7),
        (7 * 1440 + 1, "points = 1\nzero_after_days = 7", 72),
    ],
)
def test_lateness_costs_what_the_rule_says(
    tmp_path: Path, late: int, text: str, expected: float
) -> None:
    (tmp_path / "late.toml").write_text(text, encoding="utf-8")

    cost, _ = read_rule(tmp_path / "late.toml").penalty(late, Decimal(72), Decimal(100))

    assert float(cost) == expected


def test_lateness_gives_nothing_to_who_is_below_0_already(tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text('percent = 10\nof = "score"', encoding="utf-8")

    assert read_rule(tmp_path / "late.toml").penalty(1, Decimal(-3), Decimal(100))[0] == 0


def test_halves_of_hundredths_are_rounded_up_once(course: Course) -> None:
    ada = course.add(1, whole(0.1 + 0.2))
    rows = course.rows(*(f"{ada},,+0.0025,,{n}," for n in range(2)))

    assert course.final(ada, rows)[0] == "0.31"


def test_the_cell_for_many_long_reasons_has_only_their_sum(course: Course) -> None:
    ada = course.add(1, whole(10))
    rows = course.rows(*(f"{ada},,+1,,{n} {'x' * 300},{'y' * 300}" for n in range(30)))

    _, how = course.final(ada, rows)

    assert how == "10 + 30 (30 changes) = 40"
    results = course.feedback(ada)
    assert len(results["final"]["steps"]) == 31
