"""Tests of questions on students' own code with real workers, from hand-ins to answers."""

import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from courses import gradebook_in
from test_class import rows, run, texts

from tensormark.sandbox.interface import CONTAINED
from tensormark.viva.question import Sheet, labelled

STUDENTS_WITH_SAME_CODE = ("ada", "bob")  # whose submissions are correct and the same


class VivaRun(NamedTuple):
    """A class that was asked questions, and what the run printed."""

    folder: Path
    out: Path
    output: str

    def sheet(self, student: str) -> str:
        return (self.out / f"viva/sheets/{student}.html").read_text(encoding="utf-8")

    def stored_sheet(self, student: str) -> Sheet:
        """Return a student's sheet from the store, labelled as on the page."""
        results = [json.loads(text) for (text,) in rows(self.out, "SELECT result FROM viva")]
        sheets = [labelled(Sheet.from_json(text["sheet"])) for text in results]
        (stored,) = (s for s in sheets if all(q.code in self.sheet(student) for q in s.questions))
        return stored

    def run_again(self, *options: str) -> str:
        completed = run(self.folder, self.out, "--workers", "1", "--viva", "2", *options)
        assert completed.returncode == 0, completed.stderr
        return completed.stdout


@pytest.fixture(scope="module")
def viva_run(tmp_path_factory: pytest.TempPathFactory) -> VivaRun:
    folder = tmp_path_factory.mktemp("viva")
    (folder / "in").mkdir()
    for student in (*STUDENTS_WITH_SAME_CODE, "hopper"):
        kind = "right" if student in STUDENTS_WITH_SAME_CODE else "unwritten"
        (folder / f"in/{student}.py").write_text(texts()[kind], encoding="utf-8")
    viva_run = VivaRun(folder / "in", folder / "out", "")
    return viva_run._replace(output=viva_run.run_again())


pytestmark = pytest.mark.tier(CONTAINED)


def test_students_are_asked_about_their_own_code_if_it_is_correct(viva_run: VivaRun) -> None:
    assert "2 to make questions on, tier contained, workers: 1 on this machine" in viva_run.output
    assert "viva: 2 questions for 2 students: " in viva_run.output
    assert "viva: no questions for 1 student (no function is right): hopper\n" in viva_run.output
    codes = [
        {question.code for question in viva_run.stored_sheet(student).questions}
        for student in STUDENTS_WITH_SAME_CODE
    ]
    assert [len(student_codes) for student_codes in codes] == [2, 2]
    assert codes[0] != codes[1]


def test_sheets_contain_nothing_that_is_only_for_staff(viva_run: VivaRun) -> None:
    questions = [
        question
        for student in STUDENTS_WITH_SAME_CODE
        for question in viva_run.stored_sheet(student).questions
    ]
    public_texts = {"", *(option for question in questions for option in question.options)}
    for question in questions:
        staff_texts = {question.explanation, question.ask_next, *question.others} - public_texts
        assert not any(
            text in viva_run.sheet(student)
            for student in STUDENTS_WITH_SAME_CODE
            for text in staff_texts
        )


def test_answers_are_imported_and_no_sheet_is_made_again(viva_run: VivaRun, tmp_path: Path) -> None:
    before = {student: viva_run.sheet(student) for student in STUDENTS_WITH_SAME_CODE}
    questions = viva_run.stored_sheet("bob").questions
    table: list[list[Any]] = [
        ["name", *(f"{n}: [{question.code}] ?" for n, question in enumerate(questions))]
    ]
    table.append(
        ["Bob", questions[0].options[questions[0].key], questions[1].options[questions[1].key - 1]]
    )
    with (tmp_path / "export.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(table)

    output = viva_run.run_again("--answers", str(tmp_path))

    assert "viva: 1 student answered, 1 with a sheet did not\n" in output
    assert "to make questions on" not in output
    assert {student: viva_run.sheet(student) for student in STUDENTS_WITH_SAME_CODE} == before
    marks = {student: row["viva"] for student, row in gradebook_in(viva_run.out).items()}
    assert marks == {"ada": "", "bob": "1 of 2", "hopper": ""}
