"""class.toml: the options of a class, which the first run writes into its OUT."""

import dataclasses
import difflib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensormark.classroom.people import FileError
from tensormark.classroom.platforms import PLATFORMS
from tensormark.files import read_text, write_whole
from tensormark.sandbox.interface import BUDGET, CONTAINED, LOCKED, PROCESS

FILE = "class.toml"
LARGEST = 1 << 20  # bytes
LONGEST = 1_000_000  # seconds, which is days
MOST_QUESTIONS = 20  # on a sheet, which should fit on a printed page
TIERS = ("", CONTAINED, LOCKED, PROCESS)


@dataclasses.dataclass(frozen=True)
class Config:
    """The keys of class.toml; paths are relative to the folder that the command runs in."""

    platform: str = ""
    list: str = ""
    column: str = ""
    tier: str = ""
    checkpoint: str = ""
    budget: float = BUDGET
    training_times: float = 20.0
    viva: int = 0
    viva_students: tuple[str, ...] = ()


# what the file says about each key
COMMENTS: Mapping[str, str] = {
    "platform": "where SUBMISSIONS is from: " + ", ".join(each.name for each in PLATFORMS),
    "list": "a CSV file with the class: Canvas's gradebook export, Moodle's grading worksheet,\n"
    "Gradescope's or GitHub Classroom's roster, or any with a column id, login, email or name.\n"
    "Its ids decide who handed in what; Canvas's and Moodle's are filled in with the marks.",
    "column": "the assignment's column in Canvas's gradebook export, such as \"Homework 1 (123)\"",
    "tier": "how submissions are isolated: contained, locked or process; empty: the strictest here",
    "checkpoint": "a folder of weights other than the shipped ones",
    "budget": "seconds that a submission may take without its training",
    "training_times": "the training's deadline, as a multiple of what the solution took",
    "viva": "how many questions each student gets about their own code; 0: none",
    "viva_students": "only for these students, as in the gradebook; empty: for all",
}


def _value(path: Path, key: str, value: Any) -> Any:
    """Return the value of a key.

    Raises:
        FileError: it is of another kind, or not among those that are allowed.
    """
    default = getattr(Config, key)
    where = f"{path}: {key} = {json.dumps(value, default=str)[:60]}"
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise FileError(f'{where}: must be a list of texts, such as ["ada"]')
        return tuple(value)
    if isinstance(default, str):
        if not isinstance(value, str):
            raise FileError(f"{where}: must be a text in quotes")
        if "\0" in value:
            raise FileError(f"{where}: must not contain the character 0")
        allowed = {"platform": ("", *(each.name for each in PLATFORMS)), "tier": TIERS}
        if value not in allowed.get(key, (value,)):
            names = ", ".join(filter(None, allowed[key]))
            raise FileError(f"{where}: must be one of {names}, or empty")
        return value
    number = not isinstance(value, bool) and isinstance(value, int | float)
    if key == "viva":
        if not (isinstance(value, int) and number and 0 <= value <= MOST_QUESTIONS):
            raise FileError(f"{where}: must be a whole number, 0 to {MOST_QUESTIONS}")
        return value
    if not (number and 0 < value <= LONGEST):
        raise FileError(f"{where}: must be a number larger than 0, at most {LONGEST}")
    return float(value)


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
    names = [field.name for field in dataclasses.fields(Config)]
    for key in given:
        if key not in names:
            near = difflib.get_close_matches(key, names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"use {', '.join(names)}"
            raise FileError(f"{path}: there is no option {key[:60]!r}; {hint}")
    return Config(**{key: _value(path, key, value) for key, value in given.items()})


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
    for field in dataclasses.fields(Config):
        value = found.get(field.name, field.default)
        lines += ["", *(f"# {line}" for line in COMMENTS[field.name].split("\n"))]
        if field.name in notes:
            lines.append(f"# {notes[field.name]}")
        text = json.dumps(value, ensure_ascii=False)
        lines.append(f"{field.name} = {text}")
    write_whole(path, "\n".join([*lines, ""]))
    return True
