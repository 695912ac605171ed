"""Each program of this repository shows in its help what each option defaults to."""

import importlib
import sys

import pytest

import classifier
import visualize
from helps import check_help
from tests.helpers import ROOT

PROGRAMS = [
    f"instructor.{name}" for name in ("huggingface", "language.write_data", "pretraining.pretrain")
]


@pytest.mark.parametrize("module", PROGRAMS)
def test_help_of_a_program_for_staff_shows_defaults(
    monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setattr(sys, "argv", [module])

    check_help(monkeypatch, importlib.import_module(module).main)


@pytest.mark.parametrize("command", ["walk", "attention", "fill-mask"])
def test_help_of_visualize_shows_defaults(command: str, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit):
        visualize.main([command, "--help"])

    text = capsys.readouterr().out
    assert f"(default: {ROOT / 'checkpoint'})" in text
    assert "None" not in text


def test_help_of_the_classifier_shows_the_default_of_every_option(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit):
        classifier.main(["--help"])

    rows = [" ".join(row.split()) for row in capsys.readouterr().out.split("\n  --")[1:]]
    assert len(rows) == 14
    assert [row for row in rows if "default: " not in row or "None" in row] == []
    assert "seed SEED of all random numbers (default: 0)" in rows
