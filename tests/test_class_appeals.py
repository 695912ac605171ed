"""Runs whose grading is instant: what an appeal takes from the previous run, and how runs stop."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from courses import gradebook_in
from teaching import grade_at_once
from test_class_store import TERMS, result

from tensormark import cli
from tensormark.classroom import run
from tensormark.classroom.failure import Stopped
from tensormark.classroom.jobs.work import Work
from tensormark.classroom.run import Run

from conftest import ROOT
from downloads import handed_in

EXPORT = "Student,ID,SIS Login ID,Section,minBERT (8)\n    Points Possible,,,,100\nA,1,ada,x,\n"
ROSTER = "id,name\n1,Ada\n2,Grace\n"


@pytest.fixture(autouse=True)
def instant_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    grade_at_once(monkeypatch, lambda work: result())
    monkeypatch.setattr(run, "terms_of", lambda *_: TERMS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    handed_in(tmp_path / "in", "ada_1_10_bert.py", "grace_2_11_bert.py")
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    (tmp_path / "export.csv").write_text(EXPORT, encoding="utf-8")
    return tmp_path


def grade(folder: Path, *options: str, hand_ins: str = "in") -> int:
    return cli.run(ROOT, "class", [str(folder / hand_ins), "--out", str(folder / "out"), *options])


def test_an_appeal_writes_the_gradebook_of_the_same_class(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "roster.csv").write_text(ROSTER + "3,Nobody\n", encoding="utf-8")
    options = ("--roster", str(folder / "roster.csv"), "--canvas", str(folder / "export.csv"))
    late = ("--late", "before", "--deadline", "2026-11-20T18:00")
    assert grade(folder, *options, *late, "--column", "8") == 0
    before = [path.read_bytes() for path in sorted((folder / "out").glob("*.csv"))]

    assert grade(folder, "--only", "Grace") == 0

    assert [path.read_bytes() for path in sorted((folder / "out").glob("*.csv"))] == before
    output = capsys.readouterr().out
    assert f"as in the previous run: ROSTER={folder / 'roster.csv'}, " in output
    assert [*gradebook_in(folder / "out")] == ["1", "2", "3"]


def test_an_appeals_options_override_the_previous_runs_and_a_full_run_inherits_none(
    folder: Path,
) -> None:
    (folder / "other.csv").write_text("id,name\n2,Grace H.\n", encoding="utf-8")
    assert grade(folder, "--roster", str(folder / "roster.csv")) == 0

    assert grade(folder, "--only", "1", "--roster", str(folder / "other.csv")) == 0
    assert [row["name"] for row in gradebook_in(folder / "out").values()] == ["Grace H.", "ada"]

    assert grade(folder) == 0
    assert [row["name"] for row in gradebook_in(folder / "out").values()] == ["ada", "grace"]


def test_an_appeal_with_other_submissions_leaves_the_gradebook(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert grade(folder) == 0
    handed_in(folder / "appeals", "ada_1_12_bert.py")

    assert grade(folder, "--only", "1", hand_ins="appeals") == 2

    assert len(gradebook_in(folder / "out")) == 2
    assert "ONLY=1: the gradebook in" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("export", "column", "message"),
    [
        ("none.csv", "Essay", "cannot be read"),
        ("export.csv", "Essay", "has no column titled 'Essay'"),
        ("", "8", "COLUMN=8: names a column of a Canvas export; give CANVAS= as well"),
    ],
)
def test_an_export_that_cannot_be_filled_is_an_error_before_anything_is_graded(
    folder: Path, export: str, column: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    canvas = ["--canvas", str(folder / export)] if export else []

    assert grade(folder, *canvas, "--column", column) == 2

    assert message in capsys.readouterr().err
    assert not (folder / "out/gradebook.csv").exists()


def test_a_run_without_an_export_leaves_no_filled_export_of_the_previous_run(folder: Path) -> None:
    assert grade(folder, "--canvas", str(folder / "export.csv")) == 0
    assert "A,1,ada,x,30" in (folder / "out/canvas.csv").read_text(encoding="utf-8")

    assert grade(folder) == 0
    assert not (folder / "out/canvas.csv").exists()

    (folder / "out/canvas.csv").write_text("the instructor's own", encoding="utf-8")
    assert grade(folder) == 0
    assert (folder / "out/canvas.csv").exists()


def test_the_instructors_own_files_are_not_hand_ins(folder: Path) -> None:
    for name in ("roster.csv", "export.csv"):
        (folder / name).rename(folder / "in" / name)
    hand_ins = folder / "in"

    status = grade(
        folder, "--roster", str(hand_ins / "roster.csv"), "--canvas", str(hand_ins / "export.csv")
    )

    assert status == 0
    assert [*gradebook_in(folder / "out")] == ["1", "2"]


@pytest.mark.parametrize("options", [(), ("--force",), ("--only", "1")])
def test_a_run_that_is_stopped_says_what_the_same_command_will_do(
    folder: Path,
    options: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stopped(self: Run, works: Sequence[Work]) -> None:
        raise Stopped

    monkeypatch.setattr(Run, "grade", stopped)

    assert grade(folder, *options) == 130

    output = capsys.readouterr().out
    assert "\nstopped; " in output
    assert ("the same command continues where it stopped" in output) == (not options)
    assert ("FORCE=1 starts over" in output) == ("--force" in options)


def test_results_that_cannot_be_written_are_one_sentence_that_names_the_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "out").mkdir()
    (folder / "out/feedback").touch()

    assert grade(folder) == 2

    _, _, errors = capsys.readouterr().err.partition("\n")  # the first line says what is read
    assert errors.startswith(f"class: OUT={folder / 'out'}: results are saved, but ")
    assert "out/feedback cannot be written" in errors
    assert errors.count("\n") == 1
