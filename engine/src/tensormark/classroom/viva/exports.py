"""Reads answers to questions on students' own code from exports of Canvas and Moodle.

Each question's text begins with its code in brackets. Canvas's Student Analysis has it in the title
of a column that holds the answers; Moodle's report of responses, in the cell before the answer. So
only the columns that say who answered need titles in a known language.
"""

import html
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from tensormark.classroom.entry import first_of
from tensormark.classroom.failure import FileError
from tensormark.classroom.students.people import Person
from tensormark.classroom.students.roster import COLUMNS, IDS, LARGEST, cells_of, name_and_ids
from tensormark.classroom.typed import lines_of
from tensormark.reports.text import visible

CODE = re.compile(r"(?:[0-9]+: ?)?\s*\[([0-9A-F]{8})\]")
TAG = re.compile(r"<(?=[A-Za-z/!])[^>]*>?")  # which a platform may have removed
LONGEST = 4000  # characters of an option
Answered = tuple[Person, dict[str, str]]  # who, and the text of the chosen option by code
NONE = ("", "-")  # no answer
WHO = {
    **{alias: meaning for meaning, aliases in COLUMNS.items() for alias in aliases},
    **{"id": "canvas", "sis_id": "id", "sis id": "id"},  # as Canvas calls them here
}
FIX = (
    "in Canvas, export the quiz's Student Analysis; in Moodle, the report of responses as CSV with "
    "`question text` and `response` ticked"
)


def _code(cell: str) -> str | None:
    match = CODE.match(cell)
    return match[1] if match else None


def _pairs(codes: Sequence[str | None], row: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the code of each question of a row and what was answered."""
    for cell, code in zip(row, codes, strict=False):
        if code:
            yield code, cell
    if not any(codes):
        for cell, following in zip(row, (*row[1:], ""), strict=True):
            if code := _code(cell):
                yield code, following


def _person(columns: Mapping[int, str], row: Sequence[str]) -> Person | None:
    name, ids = name_and_ids(cells_of(row, columns))
    return Person(ids, (name,) if name else ()) if name or any(ids) else None


def read(path: Path, known: Collection[str]) -> tuple[list[Answered], list[str]]:
    """Read an export; return its attempts in order, and a warning about unknown codes.

    Args:
        known: the codes of all questions that were asked.

    Raises:
        FileError: it cannot be read, or has no question codes or no column for who answered.
    """
    lines = lines_of(path, LARGEST)
    header = next(lines, ("", []))[1]
    titles = map(str.casefold, header)
    columns = {index: WHO[title] for index, title in enumerate(titles) if title in WHO}
    if not {*IDS, "name", "last"} & set(columns.values()):
        raise FileError(f"{path}: its first line has no column for who answered; {FIX}")
    codes = [_code(title) for title in header]
    attempts, present = list[Answered](), {code: None for code in codes if code}
    for _, row in lines:
        pairs = list(_pairs(codes, row))
        present |= dict.fromkeys(code for code, _ in pairs)
        answers = {code: text for code, text in pairs if code in known and text not in NONE}
        if pairs and (person := _person(columns, row)):
            attempts.append((person, answers))
    if not present:
        raise FileError(f"{path}: no question in it has a code such as [3FA09C2B]; {FIX}")
    unknown = [code for code in present if code not in known]
    warning = f"{path}: nobody was asked {first_of(unknown)}; are these from another term?"
    return attempts, [warning] if unknown else []


def _plain(text: str, strip_tags: bool) -> str:
    """Return a text without backticks, white space and, if asked, what looks like tags."""
    plain = html.unescape(text[:LONGEST]).replace("`", "")
    return "".join((TAG.sub("", plain) if strip_tags else plain).split())


def chosen(text: str, options: Sequence[str]) -> int | None:
    """Return the index of the option that a platform's text matches; None unless only one does."""
    shown = [visible(option, LONGEST, keep="\n") for option in options]  # as it was imported
    for strip_tags in (False, True):
        answer = _plain(text, strip_tags)
        hits = [place for place, each in enumerate(shown) if _plain(each, strip_tags) == answer]
        if len(hits) == 1:
            return hits[0]
    return None
