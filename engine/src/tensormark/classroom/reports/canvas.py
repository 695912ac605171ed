"""Write the scores as a file that Canvas's gradebook imports: one column, only for scored students.

The file is made from the instructor's own export: the columns that identify students, unchanged,
and the assignment's column. Canvas leaves alone whatever the file omits, clears the score where a
cell is blank, and creates a new assignment for a title that it does not know.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tensormark.classroom.entry import Entry
from tensormark.classroom.failure import FileError
from tensormark.classroom.students.people import Person, matches
from tensormark.classroom.students.roster import (
    EXPORT,
    TEST_STUDENTS,
    cells_of,
    name_and_ids,
    text_of,
)
from tensormark.classroom.typed import rows_of, separator_of
from tensormark.reports.platforms import cell
from tensormark.reports.text import points, visible
from tensormark.usage import option

TITLE = re.compile(r"(.+) \(([0-9]+)\)", re.S)  # of an assignment, with its id
LAST = "section"  # last of the columns about students
ID = re.compile(r"[0-9]+")
NUMBER = re.compile(r"\s*-?\d+(?:[.,]\d+)*\s*")
EXCUSED = "EX"
MAXIMA = "Points Possible"
SHOWN = 40  # lines of one kind at most
ROUNDED = 0.005  # half of the last decimal that a platform shows
WARNING = "warning: "  # lines that begin with this are printed last


@dataclass
class _Filled:
    """The filled rows, and lines that report scores which were replaced or left out."""

    rows: list[list[str]] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def _column(path: Path, header: Sequence[str], wanted: str, assignment: str) -> int:
    """Return the place of the column to fill.

    Args:
        wanted: its title, with or without its id, or its id alone; "" for the only column with the
            assignment's name in its title.
    """
    titles = [
        (index, title) for index, text in enumerate(header) if (title := TITLE.fullmatch(text))
    ]
    if wanted:
        hits = [index for index, title in titles if wanted in (title[0], title[2])] or [
            index
            for index, title in titles
            if title[1].strip().casefold() == wanted.strip().casefold()
        ]
    else:
        hits = [index for index, title in titles if assignment.casefold() in title[1].casefold()]
    if len(hits) == 1:
        return hits[0]
    names = "; ".join(visible(title[0], 100) for _, title in titles[:SHOWN]) or "none"
    what = f"titled {wanted!r}" if wanted else f"with {assignment!r} in the title"
    count = "several columns" if hits else "no column"
    fix = f"set {option('column')} to one of these titles, with its number"
    raise FileError(f"{path}: has {count} {visible(what)}; {fix}: {names}")


def _neutral(text: str) -> str:
    """Return a cell that is neither a formula to a spreadsheet nor the maxima's row to Canvas."""
    return str(cell(text.replace(MAXIMA, MAXIMA.replace(" ", "_"))))


def number(text: str) -> float | None:
    """Parse a number as a platform writes it, in any language; return None if it is not one."""
    plain = text.strip().replace(",", ".")
    return float(plain) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", plain) else None


def is_same(shown: str, mark: float) -> bool:
    """Say whether a platform, which shows two decimals, already has this mark."""
    value = number(shown)
    return value is not None and abs(value - mark) < ROUNDED


def listed(platform: str, what: str, lines: Sequence[str]) -> list[str]:
    """Return lines of one kind under a heading with their number; at most SHOWN of them."""
    if not lines:
        return []
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"{platform}: {len(lines)} {what}:", *(f"  {line}" for line in lines[:SHOWN]), *more]


class Export:
    """A Canvas export, and the column to fill in.

    Attributes:
        title: the column's title.
        students: the rows of students.
        most: the column's maximum as text, "" if unknown.
    """

    def __init__(self, path: Path, column: str, assignment: str) -> None:
        """Read an export.

        Raises:
            FileError: the file is not one, or the column is ambiguous or missing.
        """
        try:
            text = text_of(path)
            rows = [row for _, row in rows_of(path, text)]
        except FileError as error:
            raise FileError(f"{error}; use the file as Canvas exported it") from error
        except OSError as error:
            raise FileError(f"{path}: cannot be read ({error.strerror or error})") from error
        self.separator = separator_of(text)
        self.header = rows[0] if rows else []
        self.place = _column(path, self.header, column, assignment)
        self.title = self.header[self.place]
        self.names = [name.strip().casefold() for name in self.header]
        if not {"id", LAST} <= set(self.names):
            raise FileError(f"{path}: has no column ID or Section; use Canvas's own export")
        self.columns = {n: EXPORT[name] for n, name in enumerate(self.names) if name in EXPORT}
        own_id = self.names.index("id")
        blank = [""] * len(self.header)
        whole = [[*row, *blank[len(row) :]] for row in rows[1:]]
        self.students = [row for row in whole if ID.fullmatch(row[own_id].strip())]
        maxima = [row[self.place] for row in whole[:5] if MAXIMA in row[0] and row[own_id] == ""]
        self.most = maxima[0].strip().replace(",", ".") if maxima else ""

    def person(self, row: Sequence[str]) -> Person:
        """Return the ids and name of a student; Canvas too matches by ids in this order."""
        name, ids = name_and_ids(cells_of(row, self.columns))
        return Person(ids, (name,))

    def called(self, row: Sequence[str]) -> str:
        """Return how to refer to a student of the export in messages."""
        person = self.person(row)
        return visible(f"{person.names[0]} ({person.ids[0]})", 200)

    def owners(self, entries: Sequence[Entry]) -> list[int | None]:
        """Return the index of each entry's row, or None if that is not certain.

        Somebody who is not on the class list is matched by ids alone, and never to the row of
        somebody who is; a hand-in that belongs to nobody has no row.
        """
        hand_ins = [entry.hand_in for entry in entries]
        people = [
            Person(
                () if hand_in.fault and not hand_in.known else (hand_in.student, *hand_in.keys),
                (hand_in.name, hand_in.student) if hand_in.known else (),
            )
            for hand_in in hand_ins
        ]
        rows = matches(people, [self.person(row) for row in self.students])
        pairs = list(zip(hand_ins, rows, strict=True))
        taken = {row for hand_in, row in pairs if hand_in.known}
        rows = [row if hand_in.known or row not in taken else None for hand_in, row in pairs]
        counts = Counter(rows)
        return [None if counts[row] > 1 else row for row in rows]

    def fill(self, pairs: Sequence[tuple[Entry, list[str]]]) -> _Filled:
        """Return a row for everybody who gets a score, and lines that report the others.

        An existing score is replaced, and reported; EX and other words are kept.
        """
        filled = _Filled()
        for entry, row in pairs:
            name = visible(entry.hand_in.called, 200)
            old, mark = row[self.place].strip(), entry.mark
            if mark is None:
                why = entry.without
                filled.left.append(f"{name}: {visible(why, 200)}")
            elif old and not NUMBER.fullmatch(old):
                why = "is excused" if old.upper() == EXCUSED else f"has {visible(old, 40)!r}"
                filled.left.append(f"{name}: {why} in Canvas, which is kept")
            else:
                new = points(mark)
                if old and not is_same(old, mark):
                    filled.replaced.append(f"{name}: {visible(old, 40)} becomes {new}")
                about = row[: self.names.index(LAST) + 1]
                filled.rows.append([*map(_neutral, about), new])
        return filled

    def text(self, filled: _Filled) -> str:
        """Return the text of a file that Canvas imports."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.separator, lineterminator="\n")
        writer.writerow([*self.header[: self.names.index(LAST) + 1], self.title])
        writer.writerows(filled.rows)
        return text.getvalue()

    def scaled(self, most: float) -> list[str]:
        """Return a warning if the maximum in Canvas differs from the class's."""
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", self.most) or float(self.most) == most:
            return []
        there, here = points(float(self.most)), points(most)
        what = f"{there} points are possible there, {here} here; nothing is scaled"
        return [f"{WARNING}Canvas: {what}"]


def open_export(path: Path, column: str, assignment: str, out: Path) -> Export:
    """Read an export from which `out` will be made; see Export.

    Raises:
        FileError: it cannot be used, or it is `out` itself.
    """
    if out.exists() and path.exists() and out.samefile(path):
        raise FileError(f"{path}: is the file that this run would write; copy it elsewhere first")
    return Export(path, column, assignment)


def fill_export(
    entries: Sequence[Entry], path: Path, column: str, out: Path, roster: bool = False
) -> tuple[str, list[str]]:
    """Return the text of a file for Canvas to import, and lines for the instructor.

    Args:
        path: the export; out: the file that will be written.
        roster: whether the class is given by a roster.

    Raises:
        FileError: the export cannot be used.
    """
    results = [entry.result for entry in entries if entry.result is not None]
    most = next((entry.most for entry in entries if entry.result), None)
    export = open_export(path, column, str(results[0]["assignment"]) if results else "", out)
    owners = export.owners(entries)
    pairs = list(zip(entries, owners, strict=True))
    filled = export.fill([(e, export.students[index]) for e, index in pairs if index is not None])
    strangers = [
        visible(entry.hand_in.called, 200)
        for entry, owner in pairs
        if owner is None and (entry.hand_in.path is not None or entry.hand_in.fault)
    ]
    absent = [
        export.called(row)
        for index, row in enumerate(export.students)
        if index not in owners and row[0].strip().casefold() not in TEST_STUDENTS
    ]
    why = "but not matched to a hand-in"
    if roster:
        why = f"but not in the class given by {option('roster')}"
    lines = [
        f"Canvas: wrote {out}, scores in {visible(export.title, 100)}: {len(filled.rows)}",
        *listed("Canvas", "with a different score, which this file replaces", filled.replaced),
        *listed("Canvas", "without a new score", filled.left),
        *listed(
            "Canvas", "handed in, but could not be matched to one student in the export", strangers
        ),
        *listed("Canvas", f"in the export, {why}", absent),
        *(export.scaled(most) if most is not None else ()),
    ]
    return export.text(filled), lines
