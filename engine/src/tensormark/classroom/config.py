"""What staff write in OUT: class.toml, the options of a class, and adjustments.csv.

The first run writes a class.toml. If there is an adjustments.csv, it has points that staff add or
take away, in columns student, points and reason, such as `ada,-5,two days late`.
"""

import datetime
import difflib
import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensormark.classroom.entry import Adjustment, Entry
from tensormark.classroom.people import FileError, plain, read_given, read_table
from tensormark.classroom.platforms import BY_NAME
from tensormark.classroom.returned import ALL, CHANGED
from tensormark.files import write_whole
from tensormark.reports.platforms import cell
from tensormark.reports.text import visible
from tensormark.sandbox.interface import BUDGET
from tensormark.sandbox.tiers import TIERS

FILE = "class.toml"
TEMPLATE = Path(__file__).with_name("templates") / FILE
LARGEST = 1 << 20  # bytes
LONGEST = 1_000_000  # seconds, which is days
MOST_QUESTIONS = 20  # on a sheet, which should fit on a printed page
ADJUSTMENTS = "adjustments.csv"
MOST_POINTS = 1_000_000  # points
# a comma before three digits may separate thousands
NUMBER = re.compile("[-+]?(?![0-9]+,[0-9]{3}$)[0-9]*[.,]?[0-9]+")
COLUMNS = ("student", "points", "reason")


@dataclass(frozen=True)
class Config:
    """The keys of class.toml; templates/class.toml says what they are."""

    platform: str = ""
    list: str = ""
    column: str = ""
    deadline: datetime.datetime | None = None
    limits: bool = True
    feedback: str = CHANGED
    tier: str = ""
    checkpoint: str = ""
    budget: float = BUDGET
    training_times: float = 20.0
    viva: int = 0
    viva_students: Sequence[str] = ()
    leaderboard: bool = False
    leaderboard_bonus: Sequence[Sequence[float]] = ()


Rule = tuple[str, Callable[[Any], bool]]  # what a value must be, in words, and whether one is


def _one_of(names: Sequence[str]) -> Rule:
    return f"one of {', '.join(names)}, or empty", lambda value: value in ("", *names)


def _is_step(value: Any) -> bool:
    """Return whether a value is an accuracy with its points."""
    if not isinstance(value, list) or [type(each) in (int, float) for each in value] != [True] * 2:
        return False
    accuracy, bonus = value
    return bool(0 <= accuracy <= 1 and 0 <= bonus <= MOST_POINTS)


TEXT: Rule = (
    "a string in quotes, without the character 0",
    lambda value: isinstance(value, str) and "\0" not in value,
)
BOOLEAN: Rule = ("true or false", lambda value: isinstance(value, bool))
POSITIVE: Rule = (
    f"a number larger than 0, at most {LONGEST}",
    lambda value: type(value) in (int, float) and 0 < value <= LONGEST,
)
RULES: Mapping[str, Rule] = {
    "platform": _one_of(list(BY_NAME)),
    "list": TEXT,
    "column": TEXT,
    "deadline": (
        "a date and time with its offset, without quotes: 2026-10-01T23:59:00+02:00",
        lambda value: isinstance(value, datetime.datetime) and value.tzinfo is not None,
    ),
    "limits": BOOLEAN,
    "feedback": (f'"{CHANGED}" or "{ALL}"', lambda value: value in (CHANGED, ALL)),
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
    "leaderboard": BOOLEAN,
    "leaderboard_bonus": (
        "accuracies from 0 to 1, each with its points, such as [[0.6, 2], [0.7, 5]]",
        lambda value: isinstance(value, list) and all(map(_is_step, value)),
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
        given = tomllib.loads(read_given(path, LARGEST).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # of tomllib, a decoder, or a number
        raise FileError(f"{path}: not TOML: {error}") from error
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
    platforms = ", ".join(BY_NAME)
    write_whole(path, text.format(platforms=platforms, platform=platform, tier=tier))
    return True


# --- adjustments ------------------------------------------------------------------------------


def student_named(where: str, text: str, entries: Sequence[Entry]) -> Entry:
    """Return the student whom staff mean: as in the gradebook, by any id of the list, or by name.

    In the gradebook no cell is a formula, so that an id may have an apostrophe before it.

    Raises:
        FileError: that is nobody, or not the only one; it begins with `where`.
    """
    found = [each for each in entries if text in (each.student, cell(each.student))]
    if text and not found:
        wanted = plain(text)
        found = [each for each in entries if wanted in map(plain, (*each.ids.values(), each.name))]
    if len(found) != 1:
        fix = "take a name from the student column of gradebook.csv, or an id from the list"
        if all(each.row is None for each in entries):
            fix = f"name the list in {FILE} first, or {fix}"
        raise FileError(f"{where}: no single student is called {text[:60]!r}; {fix}")
    return found[0]


def _points(where: str, text: str) -> float:
    plain_text = text.lstrip("'").replace("\N{MINUS SIGN}", "-")
    points = float(plain_text.replace(",", ".")) if NUMBER.fullmatch(plain_text) else float("nan")
    if not abs(points) <= MOST_POINTS:
        fix = f"write one between -{MOST_POINTS} and {MOST_POINTS}, such as -2.5 or 1000"
        raise FileError(f"{where}: {text[:60]!r} is not a number of points; {fix}")
    return points


def read_adjustments(path: Path, entries: Sequence[Entry]) -> None:
    """Give the students their adjustments, if there are any.

    Raises:
        FileError: the file cannot be read, or a row does not say what to do.
    """
    if not os.path.lexists(path):
        return
    table = read_table(path)
    titles = table.titles
    missing = [title for title in COLUMNS if title not in titles]
    if missing:
        raise FileError(f"{path}: its first line has no column {missing[0]}; {', '.join(COLUMNS)}")
    for place, row in enumerate(table.rows[1:], start=2):
        where = f"{path}, row {place}"
        if any(text.strip() for text in row[len(titles) :]):
            fix = "put double quotes around text that has a comma"
            raise FileError(f"{where}: has more cells than the first line; {fix}")
        named = table.named(row)
        if not named:
            continue
        student = student_named(where, named.get("student", ""), entries)
        reason = named.get("reason")
        if not reason:
            raise FileError(f"{where}: gives no reason, which the student reads")
        points = _points(where, named.get("points", ""))
        adjustment = Adjustment(points, visible(reason, 300))
        if adjustment in student.adjustments:
            raise FileError(f"{where}: repeats a row above; delete one, or give another reason")
        student.adjustments.append(adjustment)
