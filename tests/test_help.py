"""Each command shows in its help what each option defaults to."""

import argparse
import importlib
import sys
from collections.abc import Callable

import pytest

import grader.settings
import grader.submit
import grader.watch

import classifier
import visualize
from conftest import ROOT

COMMANDS = [
    f"instructor.{name}"
    for name in (
        "gate.measure",
        "gradescope.build",
        "gradescope.run",
        "huggingface.export_checkpoint",
        "huggingface.import_checkpoint",
        "language.write_data",
        "pretraining.pretrain",
        "pretraining.probes",
        "references.handout",
        "references.new_exercise",
        "references.record",
        "references.strip",
        "references.try_exercise",
        "release.build",
        "release.page",
    )
]


def check_help(monkeypatch: pytest.MonkeyPatch, parse: Callable[[], object]) -> None:
    """Check the help of the parser with which this function parses."""
    monkeypatch.setenv("COLUMNS", "1000")
    found: list[argparse.ArgumentParser] = []

    def stop(parser: argparse.ArgumentParser, arguments: object = None) -> None:
        found.append(parser)
        raise KeyboardInterrupt

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    with pytest.raises(KeyboardInterrupt):
        parse()
    text = found[0].format_help()
    # every option but --help; switches are off unless they are given
    options = [action for action in found[0]._actions[1:] if action.option_strings]
    with_value = [option for option in options if option.nargs != 0]
    assert "None" not in text
    assert "(default: False)" not in text
    for option in options:
        assert option.help, option.dest
    for option in with_value:
        shown = f"(default: {option.default})" in text if option.default is not None else True
        assert shown, option.dest


@pytest.mark.parametrize("module", COMMANDS)
def test_help_of_a_command_for_staff_shows_defaults(
    monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setattr(sys, "argv", [module])

    check_help(monkeypatch, importlib.import_module(module).main)


def test_help_of_the_grader_shows_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    check_help(monkeypatch, lambda: grader.settings.parse([]))


def test_help_of_submit_shows_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    check_help(monkeypatch, lambda: grader.submit.main([]))


def test_help_of_watch_shows_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    check_help(monkeypatch, lambda: grader.watch.parse([]))


def test_help_of_the_classifier_shows_the_default_of_every_option(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit):
        classifier.main(["--help"])

    rows = [" ".join(row.split()) for row in capsys.readouterr().out.split("\n  --")[1:]]
    assert len(rows) == 14
    assert [row for row in rows if "default: " not in row or "None" in row] == []
    assert "seed SEED of all random numbers (default: 0)" in rows


@pytest.mark.parametrize("picture", ["attention", "fill-mask", "embeddings", "positions"])
def test_help_of_a_picture_shows_defaults(picture: str, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit):
        visualize.main([picture, "--help"])

    text = capsys.readouterr().out
    assert f"(default: runs/{picture}.png)" in text
    assert f"(default: {ROOT / 'checkpoint'})" in text
    assert "None" not in text
    assert ("(default: 400)" in text) == (picture == "embeddings")
