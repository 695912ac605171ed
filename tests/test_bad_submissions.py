"""Submissions with odd names, letters and files beside them are graded like any other."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from graded import Grade
from grader.assignment import ASSIGNMENT
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import Submission
from tensormark.references import References
from tests.helpers import ROOT


def test_a_name_cannot_add_lines_to_the_report(
    grade: Grade, tmp_path: Path, solution_source: str
) -> None:
    folder = tmp_path / "mine\x1b[2J\n  score   80 | 80"
    folder.mkdir()

    errors = grade(folder).errors
    (folder / "bert.py").write_text(solution_source, encoding="utf-8")
    output = grade(folder).output

    assert errors.count("\n") == 1
    assert all(line.isprintable() for line in (errors + output).split("\n"))
    assert sum(line.startswith("  score ") for line in output.split("\n")) == 1


def test_a_changed_given_file_of_any_size_is_only_noted(grade: Grade, tmp_path: Path) -> None:
    (tmp_path / "bert.py").write_text("x = 1\n", encoding="utf-8")
    with (tmp_path / "config.py").open("wb") as file:
        file.truncate(1 << 43)  # more than any machine has memory for; none of it is on disk

    assert any("config.py differs" in note for note in grade(tmp_path).result["notes"])


def test_text_that_the_terminal_cannot_show_fails_nothing(
    submit: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")

    graded = submit(("return self.embed_dropout(", 'raise ValueError("größer 漢字") or ('))

    assert graded.status == 0
    assert "gr\\xf6\\xdfer \\u6f22\\u5b57" in graded.output
    assert "größer 漢字" in graded.exercise("embed")["message"]
    assert {n for n, outcome in graded.outcomes().items() if outcome == "could not grade"} == set()
    assert graded.result["max_score"] == 80


def test_a_file_that_a_student_added_to_the_starter_is_not_a_given_file(tmp_path: Path) -> None:
    starter = tmp_path / "starter"
    shutil.copytree(ROOT / "starter", starter)
    (starter / "rope.py").write_text("x = 1\n", encoding="utf-8")
    assignment = dataclasses.replace(ASSIGNMENT, folder=tmp_path)
    digests = References(ROOT / "reference_outputs").manifest["starter"]
    submission = Submission("bert.py", {"bert": "import rope\n"}, {})

    sources = GivenFiles(assignment, digests).under(submission).sources

    assert "rope" not in sources
    assert sources["bert"] == "import rope\n"
    (starter / "utils.py").write_bytes(b"\xff")
    fault = GivenFiles(assignment, digests).under(submission).fault
    assert "utils.py: missing, or not UTF-8 text; restore it" in fault
