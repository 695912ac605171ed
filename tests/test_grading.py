"""Grading from a student's point of view: each tier, each refused option, and what is packed."""

import dataclasses
import json
import shutil
import zipfile

import pytest

from grader.assignment import ASSIGNMENT
from tensormark import submit
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.submission import Submission
from tensormark.references import References
from tensormark.sandbox.tiers import PROCESS, TIERS
from tensormark.strictest import Strictest
from testkit.graded import ran, tensormark
from testkit.tiers import marked
from tests.helpers import ROOT

NO_MASK = ("scores + attention_mask", "scores")


@pytest.mark.parametrize("tier", marked(TIERS))
def test_the_solution_passes_in_every_tier(tier, tmp_path):
    answer = tmp_path / "result.json"
    grade = tensormark("check", "solution", "--tier", tier, "--json", str(answer))

    completed = ran(*grade, cwd=ROOT)

    assert completed.returncode == 0, completed.stderr
    result = json.loads(answer.read_text("utf-8"))
    assert (result["tier"], result["score"]) == (tier, 80), completed.stdout


def test_one_mistake_costs_one_exercise_whatever_the_number_of_threads(submit):
    first, second = (submit(NO_MASK, options=("--threads", number)) for number in "12")

    assert first.result["score"] == 55
    assert first.exercise("attention")["mistake"] == "mask_ignored"
    assert first.output == second.output
    for graded in (first, second):
        del graded.result["time"]
    assert first.result["exercises"] == second.result["exercises"]


@pytest.mark.parametrize(
    "options",
    [
        "--only self",
        "--only sentiment",
        "--threads 0",
        "--tier none",
        "--checkpoint no/where",
        "--checkpoint data",
        "--json grader",
    ],
)
def test_an_invalid_option_is_one_line_before_anything_is_graded(grade, options):
    name, value = options.split()

    graded = grade("solution", name, value)

    assert (graded.status, graded.output, graded.errors.count("\n")) == (2, "", 1)
    assert value in graded.errors


def test_what_was_edited_is_packed_and_nothing_else_in_the_same_bytes_each_time(
    tmp_path, monkeypatch
):
    tier = Strictest(PROCESS, ("contained: no bubblewrap",))
    monkeypatch.setattr(submit, "strictest", lambda *_: tier)
    folder = shutil.copytree(ROOT / "starter", tmp_path / "starter")
    for name in ("optimizer.py", "rope.py"):
        (folder / name).write_text("x = 1\n", "utf-8")
    out = tmp_path / "submission.zip"
    packs = set()

    for _ in range(2):  # the second takes the place of the first
        assert submit.main(ROOT, "submit", [str(folder), "--out", str(out)]) == 0
        packs.add(out.read_bytes())

    assert len(packs) == 1
    with zipfile.ZipFile(out) as archive:
        assert archive.namelist() == ["bert.py", "optimizer.py"]


def test_given_files_come_from_the_starter_if_they_are_readable(tmp_path):
    starter = shutil.copytree(ROOT / "starter", tmp_path / "starter")
    (starter / "rope.py").write_text("x = 1\n", "utf-8")
    assignment = dataclasses.replace(ASSIGNMENT, folder=tmp_path)
    digests = References(ASSIGNMENT.references).manifest["starter"]
    submission = Submission("bert.py", {"bert": "import rope\n"}, {})

    sources = GivenFiles(assignment, digests).under(submission).sources
    (starter / "utils.py").write_bytes(b"\xff")
    (starter / "config.py").unlink()
    fault = GivenFiles(assignment, digests).under(submission).fault

    assert sources["bert"] == "import rope\n"
    assert "utils" in sources
    assert "rope" not in sources  # a student has added it
    assert fault.count("missing, or not UTF-8 text") == 1


def test_text_that_the_terminal_cannot_show_fails_nothing(submit, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")

    graded = submit(("return self.embed_dropout(", 'raise ValueError("größer") or ('))

    assert graded.status == 0
    assert "gr\\xf6\\xdfer" in graded.output
    assert "größer" in graded.exercise("embed")["message"]
