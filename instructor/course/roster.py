"""The roster: who is in the class, as a CSV file that any system exports, and who is who."""

import csv
import datetime
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from instructor.course.gradescope_export import moment
from instructor.course.people import Person

LARGEST = 32 << 20  # bytes
# what the columns are called, by what they hold; the first that is there and not empty is taken
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("student", "id", "student id", "id number", "sid", "sis user id"),
    "login": ("login", "username", "user name", "sis login id"),
    "email": ("email", "email address", "e-mail"),
    "name": ("name", "full name", "student name"),
    "first": ("first name", "given name"),
    "last": ("last name", "surname", "family name"),
    "file": ("file", "submission", "path"),
    "submitted": ("submitted", "submitted at", "date"),
}
CANVAS = {"student": "name", "id": "id", "sis user id": "sis", "sis login id": "login"}
NOT_STUDENTS = ("points possible", "student, test", "test student")


class RosterError(Exception):
    """A roster that cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Listed:
    """A student of the roster.

    Attributes:
        student, name, keys: see HandIn.
        file: what the student handed in, relative to the folder; "" if the roster does not say.
    """

    student: str
    name: str
    keys: tuple[str, ...]
    file: str = ""
    submitted: datetime.datetime | None = None

    @property
    def person(self) -> Person:
        """What the student is matched by."""
        names = (self.name, *((self.student,) if not self.keys else ()))
        return Person(self.keys, names)


def text_of(path: Path) -> str:
    """Read a CSV file.

    Raises:
        RosterError: it is too large or not UTF-8. OSError: it cannot be read.
    """
    if path.exists() and not path.is_file():  # a pipe may never end
        raise RosterError(f"{path}: is not a file; give the CSV file with the students")
    if path.stat().st_size > LARGEST:
        raise RosterError(f"{path}: larger than {LARGEST >> 20} MiB, too large for a roster")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RosterError(f"{path}: not UTF-8 text; export it as CSV UTF-8") from error


def meanings(header: list[str]) -> dict[int, str]:
    """Return what the columns hold, by their place."""
    names = [name.strip().casefold() for name in header]
    if "sis login id" in names or "sis user id" in names:  # Canvas: "Student" is a name
        return {place: CANVAS[name] for place, name in enumerate(names) if name in CANVAS}
    known = {alias: meaning for meaning, aliases in COLUMNS.items() for alias in aliases}
    return {place: known[name] for place, name in enumerate(names) if name in known}


def listed(row: list[str], columns: Mapping[int, str], where: str) -> Listed | None:
    """Return the student of a row; None if it is empty or not a student's.

    Raises:
        RosterError: its time is not one.
    """
    cells: dict[str, str] = {}
    for place, meaning in columns.items():
        text = row[place].strip() if place < len(row) else ""
        if text and meaning not in cells:
            cells[meaning] = text
    name = cells.get("name") or " ".join(cells[k] for k in ("first", "last") if k in cells)
    keys = tuple(cells[key] for key in ("id", "sis", "login", "email") if key in cells)
    if not (keys or name) or name.casefold() in NOT_STUDENTS:
        return None
    when = cells.get("submitted", "")
    submitted = moment(when)
    if when and submitted is None:
        raise RosterError(f"{where}: {when[:60]!r} is not a time such as 2026-11-20 23:10:05")
    student = (*keys, name)[0]
    return Listed(student, name or student, keys, cells.get("file", ""), submitted)


def read_roster(path: Path) -> list[Listed]:
    """Read a roster: columns student, id, login, name or email, others as in COLUMNS.

    Raises:
        RosterError: it names no student, or one of them twice. OSError: it cannot be read.
    """
    text = text_of(path)
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = list(reader)
    except csv.Error as error:
        raise RosterError(f"{path}, line {reader.line_num}: not a CSV file ({error})") from error
    columns = meanings(rows[0]) if rows else {}
    if not set(columns.values()) & {"id", "login", "email", "name", "last"}:
        raise RosterError(
            f"{path}: its first line names none of the columns student, id, login, name and email"
        )
    made: dict[str, Listed] = {}
    for number, row in enumerate(rows[1:], start=2):
        one = listed(row, columns, f"{path}, row {number}")
        if one is not None and one.student in made:
            raise RosterError(
                f"{path}, row {number}: {one.student[:60]!r} is listed twice; "
                "give each student an id of their own"
            )
        if one is not None:
            made[one.student] = one
    return list(made.values())
