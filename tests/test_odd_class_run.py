"""The gradebooks of a class of odd names, with a grader that knows whose work each file is."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import odd_class
import pytest
from courses import gradebook_in
from moodle_import import moodle_files, moodle_grades
from odd_class import SMUGGLED, Member, members
from teaching import grade_at_once
from test_class_store import TERMS, result

from tensormark.classroom import command, run
from tensormark.classroom.work import Work

from conftest import ROOT
from downloads import handed_in


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Score every submission with its author's number, without workers."""

    def result_of(work: Work) -> dict[str, Any]:
        number = re.search("[0-9]+", work.sources["bert"])
        score = {"score": float(number[0]) if number else 0.0, "max_score": 200.0}
        return result() | score

    grade_at_once(monkeypatch, result_of)
    monkeypatch.setattr(run, "terms_of", lambda *_: TERMS)


def gradebook(folder: Path, *options: str) -> dict[str, str]:
    status = command.main(
        ROOT, "class", [str(folder / "in"), "--out", str(folder / "out"), *options]
    )
    assert status == 0
    rows = gradebook_in(folder / "out")
    return {student.lstrip("'"): row["score"] for student, row in rows.items()}


def scores(people: Sequence[Member]) -> dict[int, str]:
    return {member.number: "" if member.absent else str(member.number) for member in people}


def test_the_gradebooks_of_three_platforms_agree(tmp_path: Path) -> None:
    people = [member for member in members() if member.name not in SMUGGLED]
    canvas, moodle, gradescope = (tmp_path / name for name in ("canvas", "moodle", "gradescope"))
    odd_class.canvas(canvas / "in", people)
    odd_class.moodle(moodle / "in", people, flat=False)
    odd_class.gradescope(gradescope / "in", people)
    export = str(odd_class.export(canvas / "export.csv", people))
    sheet = str(odd_class.worksheet(moodle / "sheet.csv", people))

    first = gradebook(canvas, "--canvas", export)
    second = gradebook(moodle, "--roster", sheet)
    third = gradebook(gradescope, "--canvas", export)

    assert {member.number: first[member.canvas] for member in people} == scores(people)
    assert {member.number: second[member.participant] for member in people} == scores(people)
    assert {member.number: third[member.canvas] for member in people} == scores(people)
    grades = {member.number: float(member.number) for member in people if not member.absent}
    assert grades == {
        int(number) - 20_000: grade
        for number, grade in moodle_grades((moodle / "out/moodle.csv").read_bytes(), 200).items()
    }
    numbers = [int(member.moodle) for member in people]
    pages = moodle_files(moodle / "out/moodle-feedback.zip", numbers)
    assert {number - 20_000 for number in pages} == grades.keys()
    for folder in (canvas, gradescope):
        text = (folder / "out/canvas.csv").read_text(encoding="utf-8")
        rows = list(csv.reader(text.splitlines()))[1:]
        assert {row[1]: row[-1] for row in rows} == {
            member.canvas: str(member.number) for member in people if not member.absent
        }


def test_unlisted_students_and_ambiguous_files_are_in_the_output_and_on_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "smithmallory_1_6_x_2_9_bert.py"
    handed_in(tmp_path / "in", "lovelaceada_1_10_bert.py", "evil_999_11_bert.py", name)
    rows = "id,name\n1,Ada Lovelace\n2,Mallory Smith\n"
    (tmp_path / "roster.csv").write_text(rows, encoding="utf-8")

    gradebook(tmp_path, "--roster", str(tmp_path / "roster.csv"))

    output = capsys.readouterr().out
    complaint = "could belong to 1 (Ada Lovelace) or 2 (Mallory Smith), so nobody gets it"
    assert "\n  not on the roster: 999 (evil)\n" in output
    assert f"\n  could not be read: {name}: {complaint}" in output
    page = (tmp_path / "out/gradebook.html").read_text(encoding="utf-8")
    assert "not on the roster" in page
    assert "so nobody gets it" in page
