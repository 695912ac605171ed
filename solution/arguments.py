"""What the programs of this folder share at the command line: complaints that are one line."""

import argparse
import math
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn


class OneLineParser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the arguments and leave."""
        self.exit(2, f"{self.prog.split()[0]}: {message}\n")


def at_least(least: int) -> Callable[[str], int]:
    """Make an argument type: a whole number that is not below `least`."""

    def whole_number(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number >= {least}")
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
    """Say in one line what is wrong with a file; most messages of ours name it already."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {(error.strerror or 'cannot be used').lower()}"
    return str(error)


def explain_hole(error: NotImplementedError) -> str:
    """Say which problem of which file still waits; any other such error goes on as it is."""
    file = Path(traceback.extract_tb(error.__traceback__)[-1].filename).name
    if not str(error).isidentifier():
        raise error
    return f"{file}: Problem ({error}) is not written yet"
