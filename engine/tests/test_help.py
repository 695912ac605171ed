"""Each command shows in its help what each option defaults to."""

import importlib
from pathlib import Path

import pytest
from helps import check_help

from tensormark.cli import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_shows_defaults(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    run = importlib.import_module(f"tensormark.{COMMANDS[name].module}").main

    check_help(monkeypatch, lambda: run(folder, name, []))
