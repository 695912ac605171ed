"""The comparison with transformers: the sentences that it draws, and the ratios that it prints."""

from pathlib import Path

import pytest

from benchmarks.beside_transformers import LOOP, MINBERT, report, subset


def test_a_ratio_is_above_one_where_minbert_is_faster(capsys: pytest.CaptureFixture[str]) -> None:
    report({MINBERT: [1.0, 2.0, 1.0], LOOP: [1.5, 3.0, 9.0]}, {MINBERT: 0.5, LOOP: 0.25})

    ours, theirs = capsys.readouterr().out.splitlines()
    assert "1.00 times minBERT's; dev accuracy 0.5000" in ours
    assert "3.00 s of processor time, 1.50 times minBERT's; dev accuracy 0.2500" in theirs


def test_a_subset_is_drawn_from_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "all.txt"
    path.write_text("".join(f"{n % 2} ||| sentence {n}\n" for n in range(100)), encoding="utf-8")
    (tmp_path / "out").mkdir()

    sample = subset(path, 10, tmp_path / "out").read_text("utf-8").splitlines()
    everything = subset(path, 0, tmp_path / "out").read_text("utf-8").splitlines()

    assert len(set(sample)) == 10
    lines = path.read_text("utf-8").splitlines()
    assert sample != lines[:10]
    assert sorted(everything) == sorted(lines)
