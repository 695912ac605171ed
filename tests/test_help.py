"""Each command of the grader and of instructor/ shows in its help what each option defaults to."""

import argparse
import importlib
import sys
from collections.abc import Callable

import pytest

import grader.settings

COMMANDS = [
    f"instructor.{name}"
    for name in (
        "gate.measure",
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
