"""Tests of the command viva: what it prints, writes and returns, also for a new assignment."""

import io
import re
import sys
from pathlib import Path

import pytest

import toy
from resident import called


def test_a_new_assignment_has_questions_which_a_seed_repeats(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = list[str]()
    for _ in range(2):
        monkeypatch.setattr(sys, "stdin", io.StringIO("a\n\n"))
        completed = called(folder, "viva", "solution", "--page", "no", "--n", "2", "--seed", "7")
        assert (completed.returncode, completed.stderr) == (0, "")
        outputs.append(completed.stdout)

    assert outputs[0] == outputs[1]
    assert "1 of 2. " in outputs[0]
    assert "2 of 2. " in outputs[0]
    assert outputs[0].endswith("For the same questions again: --seed 7\n")


def test_a_page_is_written_as_a_whole(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.html"
    called(folder, "viva", "solution", "--n", "1", "--out", str(out))
    before = out.stat().st_ino

    completed = called(folder, "viva", "solution", "--n", "1", "--out", str(out))

    assert completed.returncode == 0
    assert re.fullmatch(
        rf"(note: .*\n)*1 question: {re.escape(str(out))}; open it in a browser\n"
        r"for other questions, run it again; for the same ones, add --seed \d+\n",
        completed.stdout,
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.html"]
    assert out.stat().st_ino != before  # another file took its place
    assert out.read_text("utf-8").rstrip().endswith("</html>")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no function is right yet: `tensormark check` says what is wrong\n"),
        ("def", "no function is right yet"),
    ],
)
def test_the_command_says_why_it_has_no_questions(
    folder: Path, tmp_path: Path, solution_source: str, text: str | None, message: str
) -> None:
    mine = tmp_path / toy.MAIN
    starter = (folder / "starter" / toy.MAIN).read_text("utf-8")
    mine.write_text(starter if text is None else text + solution_source, encoding="utf-8")

    completed = called(folder, "viva", str(mine), "--out", str(tmp_path / "a.html"))

    assert (completed.returncode, completed.stdout[: len(message)], completed.stderr) == (
        1,
        message,
        "",
    )
    assert not (tmp_path / "a.html").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["none.py"], "none.py"),
        (["solution", "--n", "0"], "--n 0: must be a whole number, 1 to 20"),
        (["solution", "--n", "21"], "--n 21: must be a whole number, 1 to 20"),
        (["solution", "--seed", "a\x1bb"], "the seed must be at most 100 printable characters"),
        (["solution", "--seed", "7" * 101], "the seed must be at most 100 printable characters"),
        (["solution", "--out", "grader/assignment.py"], "--out grader/assignment.py"),
        (["solution", "--out", "none/a.html"], "--out none/a.html"),
    ],
)
def test_bad_arguments_are_reported_before_anything_runs(
    folder: Path, words: list[str], complaint: str
) -> None:
    completed = called(folder, "viva", *words)

    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr.startswith("viva: ")
    assert complaint in completed.stderr
    assert completed.stderr.count("\n") == 1
