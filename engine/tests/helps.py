"""Checks the help of a command without running it."""

import argparse
from collections.abc import Callable
from unittest import mock

import pytest


class Stopped(BaseException):
    """Raised instead of parsing."""


def check_help(monkeypatch: pytest.MonkeyPatch, parse: Callable[[], object]) -> None:
    """Check the help of the parser that this function uses."""
    monkeypatch.setenv("COLUMNS", "1000")
    stopped = mock.patch.object(
        argparse.ArgumentParser, "parse_args", autospec=True, side_effect=Stopped
    )
    with stopped as parse_args, pytest.raises(Stopped):
        parse()
    (parser, *_) = parse_args.call_args.args
    text = parser.format_help()
    # every option but --help; switches are off by default
    options = [action for action in parser._actions[1:] if action.option_strings]
    with_value = [option for option in options if option.nargs != 0]
    assert "None" not in text
    assert "(default: False)" not in text
    for option in options:
        assert option.help, option.dest
    for option in with_value:
        shown = f"(default: {option.default})" in text if option.default not in (None, "") else True
        assert shown, option.dest
