"""class.toml: the options of a class, which the first run writes into its OUT."""

import difflib
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from tensormark.classroom.people import FileError
from tensormark.classroom.platforms import BY_NAME
from tensormark.files import read_text, write_whole
from tensormark.sandbox.interface import BUDGET, TIERS

FILE = "class.toml"
LARGEST = 1 << 20  # bytes
LONGEST = 1_000_000  # seconds, which is days
MOST_QUESTIONS = 20  # on a sheet, which should fit on a printed page


@dataclass(frozen=True)
class Rule:
    """What a value must be, in words, and whether one is."""

    words: str
    fits: Callable[[Any], bool]


def _one_of(names: Sequence[str]) -> Rule:
    return Rule(f"one of {', '.join(names)}, or empty", lambda value: value in ("", *names))


TEXT = Rule(
    "a text in quotes, without the character 0",
    lambda value: isinstance(value, str) and "\0" not in value,
)
NAMES = Rule(
    'a list of texts, such as ["ada"]',
    lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
)
COUNT = Rule(
    f"a whole number, 0 to {MOST_QUESTIONS}",
    lambda value: type(value) is int and 0 <= value <= MOST_QUESTIONS,
)
POSITIVE = Rule(
    f"a number larger than 0, at most {LONGEST}",
    lambda value: type(value) in (int, float) and 0 < value <= LONGEST,
)


def _option(default: Any, rule: Rule, about: str) -> Any:
    """Return a field of Config, with what the file says about it."""
    return field(default=default, metadata={"rule": rule, "about": about})


@dataclass(frozen=True)
class Config:
    """The keys of class.toml; paths are relative to the folder that the command runs in."""

    platform: str = _option(
        "", _one_of([*BY_NAME]), f"where SUBMISSIONS is from: {', '.join(BY_NAME)}"
    )
    list: str = _option(
        "",
        TEXT,
        "a CSV file with the class: Canvas's gradebook export, Moodle's grading worksheet,\n"
        "Gradescope's or GitHub Classroom's roster, or any with a column id, login, email or\n"
        "name. Its ids decide who handed in what; Canvas's and Moodle's get the marks filled in.",
    )
    column: str = _option(
        "", TEXT, "the assignment's column in Canvas's gradebook export, such as \"Lab 1 (123)\""
    )
    tier: str = _option(
        "",
        _one_of(TIERS),
        "how submissions are isolated: contained, locked or process; empty: the strictest here",
    )
    checkpoint: str = _option("", TEXT, "a folder of weights other than the shipped ones")
    budget: float = _option(
        BUDGET, POSITIVE, "seconds that a submission may take without its training"
    )
    training_times: float = _option(
        20.0, POSITIVE, "the training's deadline, as a multiple of what the solution took"
    )
    viva: int = _option(
        0, COUNT, "how many questions each student gets about their own code; 0: none"
    )
    viva_students: Sequence[str] = _option(
        (), NAMES, "only for these students, as in the gradebook; empty: for all"
    )


OPTIONS = {each.name: each for each in fields(Config)}


def read(path: Path) -> Config:
    """Read a class.toml; without one, all is as usual.

    Raises:
        FileError: it cannot be read, or has a key that does not exist or a value that cannot be.
    """
    if not path.exists():
        return Config()
    try:
        given = tomllib.loads(read_text(path, LARGEST))
    except (ValueError, RecursionError) as error:  # of tomllib, a decoder, or a number
        raise FileError(f"{path}: not TOML: {error}") from error
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
    for key, value in given.items():
        if key not in OPTIONS:
            near = difflib.get_close_matches(key, OPTIONS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"use {', '.join(OPTIONS)}"
            raise FileError(f"{path}: there is no option {key[:60]!r}; {hint}")
        rule = OPTIONS[key].metadata["rule"]
        if not rule.fits(value):
            shown = json.dumps(value, default=str)[:60]
            raise FileError(f"{path}: {key} = {shown}: must be {rule.words}")
    return Config(**given)


def write_first(path: Path, found: Mapping[str, str], notes: Mapping[str, str]) -> bool:
    """Write a class.toml with comments, unless there is one; return whether it was written.

    Args:
        found: values that differ from the usual ones; notes: what else to say about a key.
    """
    if path.exists():
        return False
    lines = [
        "# The options of this class; a run reads them and never writes them again. Paths are",
        "# relative to the folder that the command runs in.",
    ]
    for key, option in OPTIONS.items():
        lines += ["", *(f"# {line}" for line in option.metadata["about"].split("\n"))]
        if key in notes:
            lines.append(f"# {notes[key]}")
        value = json.dumps(found.get(key, option.default), ensure_ascii=False)
        lines.append(f"{key} = {value}")
    write_whole(path, "\n".join([*lines, ""]))
    return True
