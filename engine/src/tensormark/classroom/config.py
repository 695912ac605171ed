"""class.toml: the options of a class, which the first run writes into its OUT."""

import difflib
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensormark.classroom.people import FileError
from tensormark.classroom.platforms import BY_NAME
from tensormark.files import read_text, write_whole
from tensormark.sandbox.interface import BUDGET, TIERS

FILE = "class.toml"
TEMPLATE = Path(__file__).with_name("templates") / FILE
LARGEST = 1 << 20  # bytes
LONGEST = 1_000_000  # seconds, which is days
MOST_QUESTIONS = 20  # on a sheet, which should fit on a printed page


@dataclass(frozen=True)
class Config:
    """The keys of class.toml; templates/class.toml says what they are."""

    platform: str = ""
    list: str = ""
    column: str = ""
    tier: str = ""
    checkpoint: str = ""
    budget: float = BUDGET
    training_times: float = 20.0
    viva: int = 0
    viva_students: Sequence[str] = ()


Rule = tuple[str, Callable[[Any], bool]]  # what a value must be, in words, and whether one is


def _one_of(names: Sequence[str]) -> Rule:
    return f"one of {', '.join(names)}, or empty", lambda value: value in ("", *names)


TEXT: Rule = (
    "a string in quotes, without the character 0",
    lambda value: isinstance(value, str) and "\0" not in value,
)
POSITIVE: Rule = (
    f"a number larger than 0, at most {LONGEST}",
    lambda value: type(value) in (int, float) and 0 < value <= LONGEST,
)
RULES: Mapping[str, Rule] = {
    "platform": _one_of([*BY_NAME]),
    "list": TEXT,
    "column": TEXT,
    "tier": _one_of(TIERS),
    "checkpoint": TEXT,
    "budget": POSITIVE,
    "training_times": POSITIVE,
    "viva": (
        f"an integer, 0 to {MOST_QUESTIONS}",
        lambda value: type(value) is int and 0 <= value <= MOST_QUESTIONS,
    ),
    "viva_students": (
        'a list of strings, such as ["ada"]',
        lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    ),
}


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
        if key not in RULES:
            near = difflib.get_close_matches(key, RULES, n=1)
            hint = f"did you mean {near[0]}?" if near else f"use {', '.join(RULES)}"
            raise FileError(f"{path}: there is no option {key[:60]!r}; {hint}")
        words, fits = RULES[key]
        if not fits(value):
            shown = json.dumps(value, default=str)[:60]
            raise FileError(f"{path}: {key} = {shown}: must be {words}")
    return Config(**given)


def write_first(path: Path, platform: str, tier: str) -> bool:
    """Write a class.toml with comments, unless there is one; return whether it was written."""
    if path.exists():
        return False
    text = TEMPLATE.read_text("utf-8")
    values = {"platform": json.dumps(platform), "tier": json.dumps(tier)}
    write_whole(path, text.format(platforms=", ".join(BY_NAME), **values))
    return True
