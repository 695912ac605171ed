"""A class that is graded in one process: without Dask, and with the same gradebook."""

import csv
import sys
from pathlib import Path

import pytest

from tensormark import cli

import toy


def hand_in(folder: Path, source: str) -> Path:
    for name, text in {"ada": source, "bob": source.replace(toy.BIAS, ""), "cy": "def (:"}.items():
        (folder / name).mkdir(parents=True)
        (folder / name / toy.MAIN).write_text(text, encoding="utf-8")
    return folder


def test_one_worker_needs_no_dask(
    folder: Path, tmp_path: Path, solution_source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)  # importing it fails
    hand_ins, out = hand_in(tmp_path / "class", solution_source), tmp_path / "out"
    options = ["--check", "--tier", "process", "--out", str(out)]

    status = cli.run(folder, "class", [str(hand_ins), *options, "--workers", "1"])

    assert status == 0
    with open(out / "gradebook.csv", encoding="utf-8-sig", newline="") as file:
        scores = {row["student"]: row["score"] for row in csv.DictReader(file)}
    assert scores == {"ada": "80", "bob": "40", "cy": "0"}


def test_without_dask_two_workers_are_refused_in_a_line_that_gives_the_fix(
    folder: Path,
    tmp_path: Path,
    solution_source: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "tensormark.classroom.jobs.cluster", raising=False)
    hand_ins = hand_in(tmp_path / "class", solution_source)
    options = ["--check", "--tier", "process", "--out", str(tmp_path / "out"), "--workers", "2"]

    status = cli.run(folder, "class", [str(hand_ins), *options])

    error = capsys.readouterr().err
    assert status != 0
    assert "use --workers 1, which needs no Dask, or pip install 'tensormark[class]'" in error
