"""Command-line helpers of the programs here: errors are one line, and --help shows defaults."""

import argparse
import math
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

RUNS = Path("runs")  # where programs write
TUNED = RUNS / "tuned"
CHECKPOINT = Path(__file__).resolve().parent.parent / "checkpoint"


def visible(text: str) -> str:
    """Return a text whose control, format and other unprintable characters are escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose error message is one line, and whose help shows all defaults."""

    def add_argument(self, *names: str, **options) -> argparse.Action:
        """Add an argument; its help ends with its default, unless that is None, False or shown."""
        action = super().add_argument(*names, **options)
        silent = action.default is None or action.default is False
        if not silent and action.default != argparse.SUPPRESS and "default" not in action.help:
            action.help += " (default: %(default)s)"
        return action

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the arguments and exit."""
        self.exit(2, f"{self.prog.split()[0]}: {visible(message)}; see --help\n")


def at_least(least: int) -> Callable[[str], int]:
    """Return an argument type: a whole number, `least` or more."""

    def whole_number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, {least} or more")
        return int(text)

    return whole_number


def rate(text: str) -> float:
    """Read a learning rate: a number above 0, at most 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and at most 1")
    return value


def explain_file(error: OSError | ValueError) -> str:
    """Say in one line what is wrong with a file; our own messages name it already."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {(error.strerror or 'cannot be used').lower()}"
    return str(error)


def explain_out(path: Path, suffixes: Sequence[str]) -> str | None:
    """Say why a file cannot be written there, if so; folders that somebody names are not made."""
    if path.suffix.lower() not in suffixes:
        return f"should end in {' or '.join(suffixes)}"
    if path.is_dir():
        return "is a folder; give the name of a file in it"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}; make it first: mkdir -p {path.parent}"
    return None


def explain_hole(error: NotImplementedError) -> str:
    """Say which problem of which file is not written yet; re-raise any other such error."""
    file = Path(traceback.extract_tb(error.__traceback__)[-1].filename).name
    if not str(error).isidentifier():
        raise error
    return f"{file}: Problem ({error}) is not written yet"
