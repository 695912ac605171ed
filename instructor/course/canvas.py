"""Fill one column of the gradebook that an instructor has exported from Canvas.

Every other cell stays as it was, byte for byte: Canvas makes new assignments of titles that it does
not know, and takes what it finds for what was meant.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.files import write_whole
from grader.reports.model import ungraded
from grader.reports.text import points, visible
from instructor.course.cells import Cell, CellsError, rows_of, separator_of, with_cells
from instructor.course.entry import Entry
from instructor.course.people import Person, matches

LARGEST = 64 << 20  # bytes
TITLE = re.compile(r"(.+) \((\d+)\)", re.S)  # of an assignment, with its id
IDS = ("id", "sis user id", "sis login id")  # in the order in which Canvas itself matches
NUMBER = re.compile(r"\s*-?\d+(?:[.,]\d+)*\s*")
EXCUSED = "EX"
NOT_STUDENTS = ("student, test", "test student")
SHOWN = 40  # lines of one kind


class CanvasError(Exception):
    """An export that cannot be filled; the message is one sentence that says what to do."""


@dataclass
class Filled:
    """What happened to the column, as lines for a person, by kind."""

    scores: int = 0
    replaced: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def read_text(path: Path) -> str:
    """Read an export; a mark at its beginning stays where it is.

    Raises:
        CanvasError: it cannot be read, or is not UTF-8.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe may never end
            raise CanvasError(f"{path}: is not a file; give the export that Canvas has made")
        if path.stat().st_size > LARGEST:
            raise CanvasError(f"{path}: larger than {LARGEST >> 20} MiB, too large for an export")
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise CanvasError(f"{path}: not UTF-8 text; use Canvas's own file, unchanged") from error
    except OSError as error:
        raise CanvasError(f"{path}: cannot be read ({error.strerror or error})") from error


def column_of(path: Path, header: Sequence[Cell], wanted: str, assignment: str) -> int:
    """Return the place of the column to fill.

    Args:
        wanted: its title with or without its id, or its id; "" for the only one that has the
            assignment's name in it.

    Raises:
        CanvasError: there is no such column, or more than one.
    """
    titles = [
        (place, found) for place, c in enumerate(header) if (found := TITLE.fullmatch(c.text))
    ]
    if wanted:
        hits = [p for p, t in titles if wanted in (t[0], t[2])] or [
            p for p, t in titles if t[1].strip().casefold() == wanted.strip().casefold()
        ]
    else:
        hits = [place for place, t in titles if assignment.casefold() in t[1].casefold()]
    if len(hits) == 1:
        return hits[0]
    listed = "; ".join(visible(t[0], 100) for _, t in titles[:SHOWN]) or "none"
    what = f"{wanted!r} is the title of" if wanted else f"{assignment!r} is in the title of"
    count = "several columns" if hits else "no column"
    fix = "give COLUMN= one of these titles, with its number"
    raise CanvasError(f"{path}: {visible(what)} {count}; {fix}: {listed}")


def is_student(row: Sequence[Cell], width: int) -> bool:
    """Say whether a row is a student's, and not the maxima or what Canvas put above them."""
    first = row[0].text.strip().casefold()
    return len(row) == width and bool(first) and "points possible" not in first


def students_in(header: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> list[Person]:
    """Return the students of rows."""
    names = [cell.text.strip().lstrip("\ufeff").casefold() for cell in header]
    columns = [names.index(name) for name in IDS if name in names]
    return [
        Person(tuple(row[place].text.strip() for place in columns), (row[0].text.strip(),))
        for row in rows
    ]


def score_of(entry: Entry, decimal: str) -> str | None:
    """Return a score as Canvas takes it; None if there is none, or part of it is lacking."""
    if entry.result is None or ungraded(dict(entry.result)):
        return None
    return points(entry.result["score"]).replace(".", decimal)


def fill(
    pairs: Sequence[tuple[Entry, Cell]], decimal: str, filled: Filled
) -> Iterator[tuple[Cell, str]]:
    """Yield the cells to replace; what cannot be, is noted.

    A score that is there already is replaced, which is noted; EX and other words stay.
    """
    for entry, cell in pairs:
        name, old = visible(entry.hand_in.called, 200), cell.text.strip()
        new = score_of(entry, decimal)
        if new is None:
            why = entry.problem or "could not be graded in full"
            filled.left.append(f"{name}: {visible(why, 200)}")
        elif old and not NUMBER.fullmatch(old):
            why = "is excused" if old.upper() == EXCUSED else f"has {visible(old, 40)!r}"
            filled.left.append(f"{name}: {why} in Canvas, which stays")
        else:
            filled.scores += 1
            if old and old != new:
                filled.replaced.append(f"{name}: {visible(old, 40)} becomes {new}")
            if old != new:
                yield cell, new


def said(what: str, lines: Sequence[str]) -> list[str]:
    """Return lines of one kind, under what they have in common."""
    if not lines:
        return []
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"Canvas: {len(lines)} {what}:", *(f"  {line}" for line in lines[:SHOWN]), *more]


def maximum(rows: Sequence[Sequence[Cell]], column: int) -> str:
    """Return what the export says of a column's maximum, "" if nothing."""
    for row in rows[:5]:
        if "points possible" in row[0].text.casefold() and len(row) > column:
            return row[column].text.strip()
    return ""


class Export:
    """An export of Canvas, and the column of it that is to be filled.

    Attributes:
        title: of the column; place: its place; students: the rows of students.
    """

    def __init__(self, path: Path, column: str, assignment: str) -> None:
        """Read an export.

        Raises:
            CanvasError: it is not one, or the column is not clear.
        """
        self.text = read_text(path)
        self.separator = separator_of(self.text)
        try:
            rows = rows_of(self.text, self.separator)
        except CellsError as error:
            raise CanvasError(f"{path}: {error}; use Canvas's own file, unchanged") from error
        self.header = rows[0] if rows else []
        self.place = column_of(path, self.header, column, assignment)
        self.title = visible(self.header[self.place].text, 100)
        self.students = [row for row in rows[1:] if is_student(row, len(self.header))]
        self.most = maximum(rows[1:], self.place)

    @property
    def decimal(self) -> str:
        """What stands before decimals."""
        comma = self.separator == ";" and re.fullmatch(r"\d+,\d+", self.most)
        return "," if comma else "."

    def owners(self, entries: Sequence[Entry]) -> list[int | None]:
        """Return for each entry the place of its row, or None if that is not certain."""
        own = [
            Person((one.student, *one.keys), (one.name, one.student))
            for one in (entry.hand_in for entry in entries)
        ]
        found = matches(own, students_in(self.header, self.students))
        often = Counter(found)
        return [None if often[one] > 1 else one for one in found]

    def scaled(self, most: float) -> list[str]:
        """Return a line if the maximum there is another one than here."""
        there = self.most.replace(",", ".")
        if not re.fullmatch(r"\d+(\.\d+)?", there) or float(there) == most:
            return []
        return [
            f"Canvas: {there} points are possible there, {points(most)} here; nothing is scaled"
        ]


def opened(path: Path, column: str, assignment: str, out: Path) -> Export:
    """Read an export that is to be written to another file; see Export.

    Raises:
        CanvasError: it cannot be filled.
    """
    if out.exists() and path.exists() and out.samefile(path):
        raise CanvasError(f"{path}: is what this would write; copy it to another place first")
    return Export(path, column, assignment)


def fill_export(entries: Sequence[Entry], path: Path, column: str, out: Path) -> list[str]:
    """Write an export with one column filled; return what to tell the instructor.

    Args:
        path: the export; out: the file to write.

    Raises:
        CanvasError: the export cannot be filled. OSError: the file cannot be written.
    """
    results = [entry.result for entry in entries if entry.result is not None]
    export = opened(path, column, str(results[0]["assignment"]) if results else "", out)
    owners = export.owners(entries)
    pairs = list(zip(entries, owners, strict=True))
    filled = Filled()
    matched = [(e, export.students[one][export.place]) for e, one in pairs if one is not None]
    cells = dict(fill(matched, export.decimal, filled))
    write_whole(out, with_cells(export.text, cells).encode())
    strangers = [
        visible(entry.hand_in.called, 200)
        for entry, owner in pairs
        if owner is None and (entry.hand_in.path is not None or entry.hand_in.fault)
    ]
    people = students_in(export.header, export.students)
    nobody = [
        visible(" ".join([row[0].text, *(f"({key})" for key in person.ids[:1] if key)]), 200)
        for place, (row, person) in enumerate(zip(export.students, people, strict=True))
        if place not in owners and row[0].text.casefold() not in NOT_STUDENTS
    ]
    return [
        f"Canvas: wrote {out}, scores in {export.title}: {filled.scores}",
        *(export.scaled(results[0]["max_score"]) if results else ()),
        *said("with another score, which is replaced", filled.replaced),
        *said("without a score from here", filled.left),
        *said("handed in, but not in the export, or not clearly", strangers),
        *said("in the export, of whom nothing was found", nobody),
    ]
