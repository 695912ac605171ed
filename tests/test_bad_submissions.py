"""Broken submissions get one sentence for each mistake; other exercises are still graded."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import Submission
from tensormark.references import References

from conftest import ROOT, Grade

ADD_NORM = "return ln_layer(input + dropout(dense_layer(output)))"


def test_a_missing_submission_is_one_line(grade: Grade) -> None:
    graded = grade("no/such/place")

    assert graded.status == 2
    assert graded.errors == (f"check: no/such/place: there is no such file or folder in {ROOT}\n")
    assert graded.output == ""


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "bert.py is empty"),
        (b"\n \n", "bert.py is empty"),
        (b"# caf\xe9\n", "bert.py:1: not UTF-8 text"),
        (b"import torch\ndef f(:\n", "bert.py:2: invalid syntax"),
        (b"x = 1\n  y = 2\n", "bert.py:2: unexpected indent"),
        (b"x = '\x00'\n", "bert.py: source code string cannot contain null bytes"),
    ],
    ids=["empty", "blank", "latin-1", "syntax", "indentation", "nul"],
)
def test_a_file_that_is_not_python_is_explained(
    grade: Grade, tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "bert.py"
    path.write_bytes(content)

    graded = grade(path)

    assert graded.result["score"] == 0
    assert graded.result["max_score"] == 80
    assert message in graded.exercise("attention")["message"]
    assert graded.output.count(message) == 1
    assert "Traceback" not in graded.output + graded.errors


BROKEN = {
    "a missing class": (
        ("class BertModel(BertPre", "class Model(BertPre"),
        "encode",
        "bert.py has no class BertModel",
    ),
    "a missing method": (
        ("def add_norm(", "def addnorm("),
        "add_norm",
        "BertLayer has no method add_norm",
    ),
    "None": ((ADD_NORM, "ln_layer(input)"), "add_norm", "should return a tensor, got None"),
    "a list": ((ADD_NORM, "return [1.0]"), "add_norm", "should return a tensor, got a list"),
    "a tuple": ((ADD_NORM, ADD_NORM + ","), "add_norm", "should return a tensor, got a tuple"),
    "a function called like another": (
        ("self.self_attention(hidden_states", "self.self_attention.attention(hidden_states"),
        "layer",
        "raised TypeError: BertSelfAttention.attention() missing 2 required positional arguments",
    ),
    "a wrong dtype": ((ADD_NORM, ADD_NORM + ".double()"), "add_norm", "should be float32"),
    "another dtype": ((ADD_NORM, ADD_NORM + ".bfloat16()"), "add_norm", "of type torch.bfloat16"),
    "another device": ((ADD_NORM, ADD_NORM + ".to('meta')"), "add_norm", "a tensor on meta"),
    "a detached output": ((ADD_NORM, ADD_NORM + ".detach()"), "add_norm", "no gradient reaches"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_exercise_is_explained_and_others_are_graded(submit: Grade, name: str) -> None:
    edit, exercise, message = BROKEN[name]

    graded = submit(edit)

    assert graded.outcomes()[exercise] == "failed"
    assert message in graded.exercise(exercise)["message"]
    assert "passed" in graded.outcomes().values()
    assert "Traceback" not in graded.output + graded.errors


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
