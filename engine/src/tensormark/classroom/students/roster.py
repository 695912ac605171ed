"""Reads the roster: a CSV file, exported by any system, of the students and their ids."""

import contextlib
import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tensormark.classroom.failure import FileError
from tensormark.classroom.students.choice import deadline_of
from tensormark.classroom.students.gradescope_export import moment
from tensormark.classroom.students.people import Person
from tensormark.classroom.students.upload import CANVAS, MOODLE
from tensormark.classroom.typed import rows_of
from tensormark.files import NotAFileError, TooLargeError, read_text

LARGEST = 32 << 20  # bytes
# titles of columns, by what they hold; the first that is present and not empty counts
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "canvas": ("canvas_user_id", "canvas user id"),
    "identifier": ("identifier",),
    "id": ("student", "id", "student id", "id number", "sid", "sis user id", "user_id"),
    "login": ("login", "username", "user name", "sis login id", "login_id"),
    "email": ("email", "email address", "e-mail"),
    "name": ("name", "full name", "student name"),
    "first": ("first name", "given name", "firstname"),
    "last": ("last name", "surname", "family name", "lastname"),
    "team": ("team", "group", "group name", "group_name", "team name"),
    "file": ("file", "submission", "path"),
    "submitted": ("submitted", "submitted at", "date"),
    "modified": ("last modified (submission)",),  # in Moodle's worksheet
}
EXPORT = {  # from Canvas's gradebook, where "Student" is a name
    **{"student": "name", "lastname": "last", "firstname": "first", "id": "canvas"},
    **{"sis user id": "id", "sis login id": "login"},
}
IDS = ("canvas", "identifier", "id", "login", "email")  # the strongest first
MAXIMA = "points possible"
TEST_STUDENTS = ("student, test", "test student")  # as Canvas calls them
# how Moodle writes a time in English, and in the English of the United States
MODIFIED = ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p")
NEVER = "-"  # Moodle's mark for nothing handed in
NUMBER = re.compile(r".*?([0-9]+)", re.S)  # in `Participant 123`, in any language


@dataclass(frozen=True)
class Listed:
    """A student of the roster.

    Attributes:
        student, name: see HandIn.
        ids: one for each of IDS, "" where there is none.
        platforms: what Canvas and Moodle call the student in their bulk downloads.
        file: what the student handed in, relative to the folder; "" if the roster does not say.
        team: one whose hand-ins are also this student's; "" if there is none.
        unread: the time in Moodle's worksheet, if it cannot be read.
        exported: whether the list is an export of Canvas's gradebook.
    """

    student: str
    name: str
    ids: tuple[str, ...]
    platforms: Mapping[str, str]
    file: str = ""
    submitted: datetime.datetime | None = None
    team: str = ""
    unread: str = ""
    exported: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """What identifies the student; see HandIn."""
        return tuple(filter(None, self.ids))

    @property
    def person(self) -> Person:
        """What the student is matched by; an id does not count as a name."""
        return Person(self.ids, () if self.name in self.ids else (self.name,))

    @property
    def is_test_student(self) -> bool:
        """Whether this may be Canvas's test student, not a person."""
        return self.name.casefold() in TEST_STUDENTS


def text_of(path: Path) -> str:
    """Read a CSV file.

    Raises:
        FileError: it is too large or not UTF-8. OSError: it cannot be read.
    """
    try:
        return read_text(path, LARGEST)
    except TooLargeError as error:
        raise FileError(f"{path}: {error}, too large for a roster") from error
    except NotAFileError as error:
        raise FileError(f"{path}: is not a file; give the CSV file with the students") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not UTF-8 text; export it as CSV UTF-8") from error


def _is_canvas_export(names: Sequence[str]) -> bool:
    sis = "sis login id" in names or "sis user id" in names
    return names[:1] in (["student"], ["lastname"]) and "id" in names and sis


def _meanings(names: Sequence[str]) -> dict[int, str]:
    if _is_canvas_export(names):
        return {index: EXPORT[name] for index, name in enumerate(names) if name in EXPORT}
    known = {alias: meaning for meaning, aliases in COLUMNS.items() for alias in aliases}
    return {index: known[name] for index, name in enumerate(names) if name in known}


def cells_of(row: Sequence[str], columns: Mapping[int, str]) -> dict[str, str]:
    """Return the cells of a row that are not empty, by what they hold."""
    cells: dict[str, str] = {}
    for index, meaning in columns.items():
        text = row[index].strip() if index < len(row) else ""
        if text and meaning not in cells:
            cells[meaning] = text
    return cells


def name_and_ids(cells: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return a person's full name, "" if there is none, and ids: one for each of IDS."""
    name = cells.get("name") or " ".join(cells[k] for k in ("first", "last") if k in cells)
    return name, tuple(cells.get(key, "") for key in IDS)


def _platform_ids(cells: Mapping[str, str]) -> dict[str, str]:
    number = NUMBER.fullmatch(cells.get("identifier", ""))
    ids = {CANVAS: cells.get("canvas", ""), MOODLE: number[1] if number else ""}
    return {platform: text for platform, text in ids.items() if text}


def _submitted(cells: Mapping[str, str], where: str) -> datetime.datetime | None:
    """Return when something was handed in, according to staff.

    Raises:
        FileError: it is not a time.
    """
    if not (text := cells.get("submitted")):
        return None
    with contextlib.suppress(ValueError, OverflowError, OSError):
        return deadline_of(text)
    if (when := moment(text)) is None:
        raise FileError(f"{where}: {text[:60]!r} is not a time such as 2026-11-20T23:10")
    return when


def _modified(text: str) -> datetime.datetime | None:
    """Return a time as Moodle writes it, in this machine's zone; None if it is not one."""
    for form in MODIFIED:
        with contextlib.suppress(ValueError, OverflowError, OSError):
            return datetime.datetime.strptime(text, form).astimezone()
    return None


def _student(row: Sequence[str], columns: Mapping[int, str], where: str) -> Listed | None:
    """Return the student of a row; None if it is empty or not a student's."""
    cells = cells_of(row, columns)
    name, ids = name_and_ids(cells)
    platforms = _platform_ids(cells)
    if not any(ids) and (not name or MAXIMA in name.casefold()):
        return None
    modified = cells.get("modified", NEVER) if "identifier" in cells else NEVER
    submitted = _submitted(cells, where) or _modified(modified)
    unread = "" if submitted or modified == NEVER else modified
    student = next(filter(None, ids), name)
    file, team = cells.get("file", ""), cells.get("team", "")
    return Listed(student, name or student, ids, platforms, file, submitted, team, unread)


def read_roster(path: Path) -> list[Listed]:
    """Read a roster: columns student, id, login, name or email, others as in COLUMNS.

    Raises:
        FileError: it identifies no students, or lists one twice. OSError: it cannot be read.
    """
    rows = [row for _, row in rows_of(path, text_of(path))]
    titles = [name.strip().casefold() for name in rows[0]] if rows else []
    columns, exported = _meanings(titles), _is_canvas_export(titles)
    if not set(columns.values()) & {*IDS, "name", "last"}:
        raise FileError(
            f"{path}: its first line names none of the columns student, id, login, name and email"
        )
    students: dict[str, Listed] = {}
    for number, row in enumerate(rows[1:], start=2):
        student = _student(row, columns, f"{path}, row {number}")
        if student is not None and student.student in students:
            raise FileError(
                f"{path}, row {number}: {student.student[:60]!r} is listed twice; "
                "give each student an id of their own"
            )
        if student is not None:
            students[student.student] = replace(student, exported=exported)
    return list(students.values())
