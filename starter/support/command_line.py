"""Command lines of the programs: errors are one line, and --help shows defaults."""

import argparse
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

STARTER = Path(__file__).resolve().parents[1]
ROOT = STARTER.parent
CHECKPOINT = ROOT / "checkpoint"
DATA = ROOT / "data"
MOST = 10**9  # of an integer on the command line


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose error message is one line, and whose help shows all defaults."""

    def add_argument(self, *names: str, **options) -> argparse.Action:
        """Add an argument; its help ends with its default, unless that is None or shown."""
        action = super().add_argument(*names, **options)
        if action.default not in (None, argparse.SUPPRESS):
            action.help += " (default: %(default)s)"
        return action

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the arguments and exit."""
        self.exit(2, f"{self.prog.split()[0]}: {message}; see --help\n")


def at_least(least: int) -> Callable[[str], int]:
    """Return an argument type: an integer from `least` to MOST."""

    def integer(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text[:20]) <= MOST):
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer from {least} to {MOST}")
        return int(text)

    return integer


def rate(text: str) -> float:
    """Read a learning rate: a number above 0, at most 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and at most 1")
    return value


def explain_file(error: OSError | ValueError) -> str:
    """Say in one line what is wrong with a file; our own messages name it already."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {(error.strerror or 'cannot be used').lower()}"
    return str(error)


def explain_code(error: Exception) -> str:
    """Say in one line what the code of an exercise raised, and where; or what is not written."""
    frames = traceback.extract_tb(error.__traceback__)
    what = str(error).partition("\n")[0]
    if isinstance(error, NotImplementedError) and what.isidentifier():
        file = Path(frames[-1].filename).name
        page = "handout.md" if file == "bert.py" else "handout/extensions.md"
        return f"{file}: Problem ({what}) is not written yet; see {page}"
    here = [frame for frame in frames if Path(frame.filename).resolve().parent == STARTER]
    place = (here or frames)[-1]
    line = f"{Path(place.filename).name}, line {place.lineno}, in {place.name}"
    return f"{line}: {type(error).__name__}: {what}"
