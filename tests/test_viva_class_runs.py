"""Questions on students' own code, made by real workers: from hand-ins to imported answers."""

import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from test_class import rows, run, texts

from tensormark.sandbox.interface import CONTAINED
from tensormark.viva.question import Sheet, labelled

ALIKE = ("ada", "bob")  # their submissions are right, and the same


class Asked(NamedTuple):
    """A class that was asked questions, and what the run printed."""

    folder: Path
    out: Path
    output: str

    def sheet(self, student: str) -> str:
        return (self.out / f"viva/sheets/{student}.html").read_text(encoding="utf-8")

    def stored_sheet(self, student: str) -> Sheet:
        """Return a student's sheet from the store, labelled as on the page."""
        texts = [json.loads(text) for (text,) in rows(self.out, "SELECT result FROM viva")]
        sheets = [labelled(Sheet.from_json(text["sheet"])) for text in texts]
        (shown,) = (s for s in sheets if all(q.code in self.sheet(student) for q in s.questions))
        return shown

    def run_again(self, *options: str) -> str:
        completed = run(self.folder, self.out, "--workers", "1", "--viva", "2", *options)
        assert completed.returncode == 0, completed.stderr
        return completed.stdout


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    place = tmp_path_factory.mktemp("viva")
    (place / "in").mkdir()
    for student in (*ALIKE, "hopper"):
        kind = "right" if student in ALIKE else "unwritten"
        (place / f"in/{student}.py").write_text(texts()[kind], encoding="utf-8")
    first = Asked(place / "in", place / "out", "")
    return first._replace(output=first.run_again())


pytestmark = pytest.mark.tier(CONTAINED)


def test_students_are_asked_about_their_own_code_if_it_is_right(asked: Asked) -> None:
    assert "2 to make questions on, tier contained, workers: 1 on this machine" in asked.output
    assert "viva: 2 questions for 2 students: " in asked.output
    assert "viva: no questions for 1 student (no function is right): hopper\n" in asked.output
    codes = [
        {question.code for question in asked.stored_sheet(student).questions} for student in ALIKE
    ]
    assert [len(student_codes) for student_codes in codes] == [2, 2]
    assert codes[0] != codes[1]


def test_sheets_contain_nothing_that_is_only_for_staff(asked: Asked) -> None:
    questions = [
        question for student in ALIKE for question in asked.stored_sheet(student).questions
    ]
    public = {"", *(option for question in questions for option in question.options)}
    for question in questions:
        hidden = {question.explanation, question.ask_next, *question.others} - public
        assert not any(text in asked.sheet(student) for student in ALIKE for text in hidden)


def test_answers_are_imported_and_no_sheet_is_made_again(asked: Asked, tmp_path: Path) -> None:
    before = {student: asked.sheet(student) for student in ALIKE}
    questions = asked.stored_sheet("bob").questions
    lines: list[list[Any]] = [
        ["name", *(f"{n}: [{question.code}] ?" for n, question in enumerate(questions))]
    ]
    lines.append(
        ["Bob", questions[0].options[questions[0].key], questions[1].options[questions[1].key - 1]]
    )
    with (tmp_path / "export.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)

    output = asked.run_again("--answers", str(tmp_path))

    assert "viva: 1 student answered, 1 with a sheet did not\n" in output
    assert "to make questions on" not in output
    assert {student: asked.sheet(student) for student in ALIKE} == before
    with (asked.out / "gradebook.csv").open(encoding="utf-8") as file:
        marks = {row["student"]: row["viva"] for row in csv.DictReader(file)}
    assert marks == {"ada": "", "bob": "1 of 2", "hopper": ""}
