"""Checks the help of a command without running it."""

import argparse
from collections.abc import Callable

import pytest


class Stopped(BaseException):
    """Raised instead of parsing."""


def check_help(monkeypatch: pytest.MonkeyPatch, parse: Callable[[], object]) -> None:
    """Check the help of the parser that this function uses."""
    monkeypatch.setenv("COLUMNS", "1000")
    parsers: list[argparse.ArgumentParser] = []

    def stop(parser: argparse.ArgumentParser, arguments: object = None) -> None:
        parsers.append(parser)
        raise Stopped

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)
    with pytest.raises(Stopped):
        parse()
    (parser,) = parsers
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
