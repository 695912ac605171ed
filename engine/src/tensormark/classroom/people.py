"""The class list: who is in it, and whom an id or a name means.

Ids match regardless of case, characters that nobody sees, and zeros that a spreadsheet removes, as
long as that makes no two of them equal. Names match regardless of case, accents, spaces and order:
`lovelaceada`, `Lovelace, Ada` and `Ada Lovelace` are one name.
"""

import codecs
import csv
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tensormark.characters import is_visible, listed
from tensormark.classroom.entry import Entry
from tensormark.files import read_whole
from tensormark.usage import UserError

LARGEST = 32 << 20  # bytes
# how files begin that are not plain UTF-8, such as Blackboard's, and their encodings
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16"}
SEPARATOR = re.compile("sep=([,;\t|])(?:\r\n?|\n)", re.I)
# how much of a name is compared
WORDS = 32
LONGEST = 200  # characters
# what the columns of any list hold, and their titles in lower case, without punctuation
TITLES = {
    "id": "student, id, student id, id number, sid, sis user id, orgdefinedid, org defined id",
    "login": "login, username, user name, sis login id, login id",
    "email": "email, email address, e mail, e mail address, student email",
    "canvas": "canvas user id",
    "github": "github username, github",
    "number": "student number, student no, studentid, matriculation number, matric no, "
    "matrikelnummer, registration number, university id, campus id, banner id, emplid, uin, cwid",
    "netid": "netid, net id, uni, uniqname, unikey, utorid, andrew id, eid, user id, uid",
    "name": "name, full name, student name",
    "first": "first name, given name, firstname",
    "last": "last name, surname, family name, lastname",
    "team": "team, group, group name, team name",
    "file": "file, submission, path",
    "role": "role, roles, course role",
}
IDS = ("canvas", "id", "login", "email", "github", "number", "netid")  # strongest first
NAMES = ("name", "first", "last")
LETTERS = ("Cs", "Co", "Cn")  # categories of bytes and letters that are not known here
NOTHING = ("", *"nan n/a none null - -- \N{EN DASH}".split())  # instead of an id
# what a role of staff contains, or one of the students that a platform makes for tests: Canvas's
# TaEnrollment and StudentViewEnrollment, Moodle's editingteacher, Gradescope's Reader
STAFF = re.compile(
    r"\b(?:tas?|\w*teacher|teaching|assistant|instructor|lecturer|professor|tutor|grader|marker"
    r"|reader|observer|designer|builder|\w*creator|manager|owner|facilitator|admin\w*|staff"
    r"|trainer|dozent|profesor|professeur|enseignant|docente"
    r"|studentview|test student)\b"
)


class FileError(UserError):
    """A file or folder that staff gave cannot be used; the message is one sentence."""


def read_given(path: Path, largest: int) -> bytes:
    """Return what is in a file that staff gave; see `read_whole`.

    Raises:
        FileError: it cannot be read.
    """
    try:
        return read_whole(path, largest)
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error


def words(name: str) -> list[str]:
    """Return the words of a name, in lower case and without accents."""
    plain = unicodedata.normalize("NFKD", name[:LONGEST]).casefold()
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    spaced = "".join(char if char.isalnum() else " " for char in letters)
    return spaced.split()[:WORDS]


def cleaned(text: str) -> str:
    """Return an id without characters that nobody sees, and what makes a text of it in a table."""
    letters = (c for c in text if is_visible(c) or unicodedata.category(c) in LETTERS)
    return "".join(letters).strip(" #'")


def plain(text: str) -> str:
    """Return an id as it is compared; see the module."""
    letters = unicodedata.normalize("NFC", cleaned(text)).casefold()
    return letters.lstrip("0") or "0" if letters.isdecimal() else letters


def forms(name: str) -> frozenset[str]:
    """Return a name without spaces, once for each word that may come first."""
    parts = words(name)
    return frozenset("".join(parts[i:] + parts[:i]) for i in range(len(parts)))


@dataclass(frozen=True)
class CsvTable:
    """A CSV file: its text, the rows in it, at least one, and the separator of its cells.

    Attributes:
        before: a line such as `sep=;` before the text, for Excel; "" if there is none.
    """

    path: Path
    text: str
    encoding: str
    separator: str
    rows: list[list[str]]
    before: str = ""

    @property
    def titles(self) -> list[str]:
        """The titles of its columns, in lower case."""
        return [title.strip().casefold() for title in self.rows[0]]

    def named(self, row: Sequence[str]) -> dict[str, str]:
        """Return the cells of a row that are not empty, by title; of equal titles, the first."""
        cells: dict[str, str] = {}
        for title, text in zip(self.titles, row, strict=False):
            if text.strip():
                cells.setdefault(title, text.strip())
        return cells

    def filled(self, place: int, texts: Mapping[int, str]) -> bytes:
        """Return the file with other texts in a column, and every other byte as it is.

        Args:
            place: of the column; texts: for its cells, by the number of the row.
        """
        one = re.escape(self.separator)
        cells = re.findall(rf'("(?:[^"]|"")*"|[^{one}\r\n]*)({one}|\r\n?|\n|\Z)', self.text)
        written = [self.before]
        row = []
        number = 0
        for cell, end in cells:
            row.append(cell)
            if end == self.separator:
                continue
            if number in texts:
                new = texts[number]
                row += [""] * (place + 1 - len(row))
                is_quoted = row[place].startswith('"') or self.separator in new
                row[place] = f'"{new}"' if is_quoted else new
            written.append(self.separator.join(row) + end)
            row = []
            number += 1
        return "".join(written).encode(self.encoding)


def read_table(path: Path) -> CsvTable:
    """Read a CSV file.

    Raises:
        FileError: it cannot be read, or is not one.
    """
    content = read_given(path, LARGEST)
    encoding = next((name for mark, name in MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is not UTF-8 text; export or save it as CSV UTF-8") from error
    said = SEPARATOR.match(text)
    before = said[0] if said else ""
    text = text.removeprefix(before)
    first = re.split("[\r\n]", text, maxsplit=1)[0]
    unquoted = "".join(first.split('"')[::2])
    separator = said[1] if said else max(",;\t|", key=unquoted.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return CsvTable(path, text, encoding, separator, list(reader) or [[]], before)
    except csv.Error as error:
        raise FileError(f"{path}, line {reader.line_num}: not a CSV file ({error})") from error


def meaning(title: str, columns: Mapping[str, str]) -> str:
    """Return what a column holds, by its title in lower case; "" if that is not known.

    Args:
        columns: a platform's own titles, and what they hold.
    """
    plain_title = " ".join(re.findall(r"[^\W_]+", title))
    known = [each for each, titles in TITLES.items() if plain_title in titles.split(", ")]
    return columns.get(title) or "".join(known)


def unread(table: CsvTable) -> list[str]:
    """Return the titles of the columns that are not read in a list that is no platform's."""
    return [title for title in table.rows[0] if title and not meaning(title.casefold(), {})]


def people_in(table: CsvTable, columns: Mapping[str, str]) -> list[Entry]:
    """Return the people in the rows of a table.

    Args:
        columns: a platform's own titles, in lower case, and what they hold, such as one of TITLES;
            another kind is of ids, stronger than those of any list. In a platform's lists, a row
            without an id is not a student's.

    Raises:
        FileError: it identifies nobody, or lists somebody twice.
    """
    kinds = [*(kind for kind in columns.values() if kind not in TITLES), *IDS]
    meanings = {title: meaning(title, columns) for title in table.titles}
    if not set(meanings.values()) & {*kinds, "name", "last"}:
        raise FileError(
            f"{table.path}: its first line names none of the columns student, id, login, name or "
            f"email, but {listed(unread(table)) or 'nothing'}; rename the one with the "
            "ids to id, and download a platform's own list in English"
        )
    people = {}
    for number, row in enumerate(table.rows[1:], start=1):
        cells = table.named(row)
        ids = {}
        facts = defaultdict[str, str](str)
        for title, text in cells.items():
            kind = meanings[title]
            plain_text = cleaned(text)
            nothing = plain_text.casefold() in NOTHING
            if kind in kinds and not nothing:
                # of a second column of this kind, the title makes the key unique
                ids[f"{kind}: {title}" if kind in ids else kind] = plain_text
            elif kind in NAMES or not nothing:
                facts.setdefault(kind, text)  # of several, the first
        name = facts["name"] or f"{facts['first']} {facts['last']}".strip()
        role = facts["role"].casefold().replace("enrollment", "")
        if not (ids or (name and not columns)) or STAFF.search(role):
            continue
        student = next((ids[kind] for kind in kinds if kind in ids), name)
        if student in people:
            raise FileError(
                f"{table.path}, row {number + 1}: {student[:60]!r} is listed twice; give "
                "each student a unique id"
            )
        people[student] = Entry(
            student, name or student, number, cells, ids, facts["team"], facts["file"]
        )
    if not people:
        raise FileError(f"{table.path}: lists no student")
    return list(people.values())
