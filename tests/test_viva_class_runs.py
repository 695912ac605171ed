"""Questions about their own code, made by real workers: from hand-ins to answers read back."""

import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from test_class import rows, run, texts

from tensormark.sandbox.interface import CONTAINED
from tensormark.viva.question import Sheet, labelled

ALIKE = ("ada", "bob")  # what they handed in is right, and the same


class Asked(NamedTuple):
    """A class that was asked, and what the run printed."""

    folder: Path
    out: Path
    said: str

    def sheet(self, student: str) -> str:
        return (self.out / f"viva/sheets/{student}.html").read_text(encoding="utf-8")

    def made(self, student: str) -> Sheet:
        """Return what is kept of a student's sheet, as it is shown."""
        texts = [json.loads(text) for (text,) in rows(self.out, "SELECT result FROM viva")]
        sheets = [labelled(Sheet.from_json(text["sheet"])) for text in texts]
        (own,) = (s for s in sheets if all(q.code in self.sheet(student) for q in s.questions))
        return own

    def again(self, *options: str) -> str:
        done = run(self.folder, self.out, "--workers", "1", "--viva", "2", *options)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    place = tmp_path_factory.mktemp("viva")
    (place / "in").mkdir()
    for student in (*ALIKE, "hopper"):
        kind = "right" if student in ALIKE else "unwritten"
        (place / f"in/{student}.py").write_text(texts()[kind], encoding="utf-8")
    first = Asked(place / "in", place / "out", "")
    return first._replace(said=first.again())


pytestmark = pytest.mark.tier(CONTAINED)


def test_each_is_asked_about_their_own_code_once_it_is_right(asked: Asked) -> None:
    assert "2 to make questions on, tier contained, workers: 1 on this machine" in asked.said
    assert "viva: 2 questions for 2 students: " in asked.said
    assert "viva: no questions for 1 student (no function is right): hopper\n" in asked.said
    codes = [{one.code for one in asked.made(student).questions} for student in ALIKE]
    assert [len(each) for each in codes] == [2, 2]
    assert codes[0] != codes[1]


def test_sheets_hold_nothing_that_staff_are_told(asked: Asked) -> None:
    questions = [one for student in ALIKE for one in asked.made(student).questions]
    shown = {"", *(option for one in questions for option in one.options)}
    for one in questions:
        hidden = {one.explanation, one.ask_next, *one.others} - shown
        assert not any(text in asked.sheet(student) for student in ALIKE for text in hidden)


def test_answers_come_back_and_nothing_is_made_again(asked: Asked, tmp_path: Path) -> None:
    before = {student: asked.sheet(student) for student in ALIKE}
    own = asked.made("bob").questions
    lines: list[list[Any]] = [["name", *(f"{n}: [{one.code}] ?" for n, one in enumerate(own))]]
    lines.append(["Bob", own[0].options[own[0].key], own[1].options[own[1].key - 1]])
    with (tmp_path / "export.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)

    said = asked.again("--answers", str(tmp_path))

    assert "viva: 1 student answered, 1 with a sheet did not\n" in said
    assert "to make questions on" not in said
    assert {student: asked.sheet(student) for student in ALIKE} == before
    with (asked.out / "gradebook.csv").open(encoding="utf-8") as file:
        marks = {row["student"]: row["viva"] for row in csv.DictReader(file)}
    assert marks == {"ada": "", "bob": "1 of 2", "hopper": ""}
