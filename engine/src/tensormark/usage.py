"""Messages to the user, with commands and options as the user knows them: make's or tensormark's.

An assignment may have a Makefile whose recipes call tensormark and that exports TENSORMARK_MAKE=1.
Its users know `make check K=conv`, not `tensormark check --only conv`.
"""

import argparse
import contextlib
import os
import re
import shlex
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VARIABLE = "TENSORMARK_MAKE"
ON_COMMAND_LINE = {"k": "only"}  # options whose name differs from make's variable
NAMED = "TENSORMARK_NAMED"  # the folder that was named on the command line
POSITIONAL = ("submission", "submissions", "id")


class UserError(Exception):
    """Something that the user can mend; the message is all that is printed, in one line."""


def one_line(error: Exception) -> str:
    """Return an exception's type and message, whose lines are joined."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def near(text: str | Path) -> str:
    """Return a path, or a text with paths, in which those below the current folder are relative."""
    with contextlib.suppress(OSError):  # the current folder is gone
        return re.sub(rf"(?<![\w./-]){re.escape(os.getcwd() + os.sep)}", "", str(text))
    return str(text)


def enumerated(names: Sequence[str]) -> str:
    """Return names as a phrase: "a, b and c"; "" if there are none."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def trouble_in(error: BaseException) -> str:
    """Return an exception's type, and the innermost line of this package in its traceback.

    This is for the maintainers. The exception's message is left out: a submission may have chosen
    it.
    """
    places = [
        f" (tensormark/{Path(frame.filename).relative_to(HERE).as_posix()}, line {frame.lineno})"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(HERE)
    ]
    return f"{type(error).__name__}{''.join(places[-1:])}"


def option(name: str, value: Any = "") -> str:
    """Return an option with its value: `OUT=dir`, or `--out dir`.

    Args:
        name: such as "out".
        value: True for a flag.
    """
    if os.environ.get(VARIABLE):
        return f"{name.upper().replace('-', '_')}={1 if value is True else value}"
    if name in POSITIONAL:
        return str(value) or name.upper()
    flag = f"--{ON_COMMAND_LINE.get(name, name)}"
    return flag if value is True or value == "" else f"{flag} {value}"


def parser(name: str, description: str) -> argparse.ArgumentParser:
    """Return a parser for the command line of a command."""
    return argparse.ArgumentParser(prog=f"tensormark {name}", description=description)


def command(name: str, **options: Any) -> str:
    """Return a command with its options: `make try ID=conv`, or `tensormark try conv`."""
    named = os.environ.get(NAMED)
    program = f"tensormark -C {shlex.quote(named)}" if named else "tensormark"
    if os.environ.get(VARIABLE):
        program = "make"
    words = [option(key.replace("_", "-"), value) for key, value in options.items()]
    return " ".join([program, name, *words])
