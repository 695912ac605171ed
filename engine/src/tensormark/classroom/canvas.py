"""Write the scores as a file that Canvas's gradebook imports: one column, and who has a score.

Made from the instructor's own export: what identifies students as it stands there, and the
assignment's column. Canvas leaves alone whatever such a file does not have, clears a score where a
cell is blank, and makes a new assignment of a title that it does not know.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tensormark.classroom.entry import Entry
from tensormark.classroom.people import Person, matches
from tensormark.classroom.roster import TEST_STUDENTS, RosterError, rows_of, separator_of, text_of
from tensormark.files import write_whole
from tensormark.reports.platforms import cell
from tensormark.reports.text import points, visible
from tensormark.usage import option

TITLE = re.compile(r"(.+) \(([0-9]+)\)", re.S)  # of an assignment, with its id
IDS = ("id", "sis user id", "sis login id")  # in the order in which Canvas itself matches
NAMES = ("student", "firstname", "lastname")
LAST = "section"  # of the columns about students
ID = re.compile(r"[0-9]+")
NUMBER = re.compile(r"\s*-?\d+(?:[.,]\d+)*\s*")
EXCUSED = "EX"
MAXIMA = "Points Possible"
SHOWN = 40  # lines of one kind
ROUNDED = 0.005
WARNING = "warning: "  # begins a line that comes last


class CanvasError(Exception):
    """An export that cannot be used; the message is one sentence that says what to do."""


@dataclass
class _Filled:
    """What happened to the column: its rows, and lines for a person, by kind."""

    rows: list[list[str]] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def _column(path: Path, header: Sequence[str], wanted: str, assignment: str) -> int:
    """Return the place of the column to fill.

    Args:
        wanted: its title with or without its id, or its id; "" for the only one that has the
            assignment's name in it.
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
    what = f"{wanted!r} is the title of" if wanted else f"{assignment!r} is in the title of"
    count = "several columns" if hits else "no column"
    fix = f"give {option('column')} one of these titles, with its number"
    raise CanvasError(f"{path}: {visible(what)} {count}; {fix}: {names}")


def _neutral(text: str) -> str:
    """Return a cell that is no formula to a spreadsheet, and no row of the maxima to Canvas."""
    return str(cell(text.replace(MAXIMA, MAXIMA.replace(" ", "_"))))


def number(text: str) -> float | None:
    """Return a number as a platform writes it, in any language; None if it is not one."""
    plain = text.strip().replace(",", ".")
    return float(plain) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", plain) else None


def same(held: str, mark: float) -> bool:
    """Say whether a platform, which shows two decimals, has this mark already."""
    value = number(held)
    return value is not None and abs(value - mark) < ROUNDED


def listed(platform: str, what: str, lines: Sequence[str]) -> list[str]:
    """Return lines of one kind under their number, as many as a person reads."""
    if not lines:
        return []
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"{platform}: {len(lines)} {what}:", *(f"  {line}" for line in lines[:SHOWN]), *more]


class Export:
    """An export of Canvas, and the column of it that is to be filled.

    Attributes:
        title: of the column; students: the rows of students; most: the maximum there, if known.
    """

    def __init__(self, path: Path, column: str, assignment: str) -> None:
        """Read an export.

        Raises:
            CanvasError: it is not one, or the column is not clear.
        """
        try:
            text = text_of(path)
            rows = rows_of(path, text)
        except RosterError as error:
            raise CanvasError(f"{error}; use Canvas's own file, unchanged") from error
        except OSError as error:
            raise CanvasError(f"{path}: cannot be read ({error.strerror or error})") from error
        self.separator = separator_of(text)
        self.header = rows[0] if rows else []
        self.place = _column(path, self.header, column, assignment)
        self.title = self.header[self.place]
        self.names = [name.strip().casefold() for name in self.header]
        if not {"id", LAST} <= set(self.names):
            raise CanvasError(f"{path}: has no column ID or Section; use Canvas's own file")
        self.ids = [self.names.index(name) for name in IDS if name in self.names]
        blank = [""] * len(self.header)
        whole = [[*row, *blank[len(row) :]] for row in rows[1:]]
        self.students = [row for row in whole if ID.fullmatch(row[self.ids[0]].strip())]
        maxima = [
            row[self.place] for row in whole[:5] if MAXIMA in row[0] and row[self.ids[0]] == ""
        ]
        self.most = maxima[0].strip().replace(",", ".") if maxima else ""

    def person(self, row: Sequence[str]) -> Person:
        """Return a student as they are matched."""
        parts = [row[self.names.index(name)] for name in NAMES if name in self.names]
        ids = tuple(row[index].strip() for index in self.ids)
        return Person(ids, (" ".join(parts).strip(),))

    def called(self, row: Sequence[str]) -> str:
        """Return what to call a student of the export."""
        person = self.person(row)
        return visible(f"{person.names[0]} ({person.ids[0]})", 200)

    def owners(self, entries: Sequence[Entry]) -> list[int | None]:
        """Return for each entry the place of its row, or None if that is not certain.

        Who is not on the list of the class is matched by ids alone, and has no row that somebody
        on it has; what is nobody's has none.
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
        """Return a row for everybody who gets a score, and what is to be told of the others.

        A score that is there already is replaced, which is told; EX and other words stay.
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
                filled.left.append(f"{name}: {why} in Canvas, which stays")
            else:
                new = points(mark)
                if old and not same(old, mark):
                    filled.replaced.append(f"{name}: {visible(old, 40)} becomes {new}")
                about = row[: self.names.index(LAST) + 1]
                filled.rows.append([*map(_neutral, about), new])
        return filled

    def text(self, filled: _Filled) -> str:
        """Return a file that Canvas imports."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.separator, lineterminator="\n")
        writer.writerow([*self.header[: self.names.index(LAST) + 1], self.title])
        writer.writerows(filled.rows)
        return text.getvalue()

    def scaled(self, most: float) -> list[str]:
        """Return a line if the maximum there is another one than here."""
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", self.most) or float(self.most) == most:
            return []
        there, here = points(float(self.most)), points(most)
        what = f"{there} points are possible there, {here} here; nothing is scaled"
        return [f"{WARNING}Canvas: {what}"]


def opened(path: Path, column: str, assignment: str, out: Path) -> Export:
    """Read an export that is to be written to another file; see Export.

    Raises:
        CanvasError: it cannot be used.
    """
    if out.exists() and path.exists() and out.samefile(path):
        raise CanvasError(f"{path}: is what this would write; copy it to another place first")
    return Export(path, column, assignment)


def fill_export(
    entries: Sequence[Entry], path: Path, column: str, out: Path, roster: bool = False
) -> list[str]:
    """Write the scores for Canvas to import; return what to tell the instructor.

    Args:
        path: the export; out: the file to write.
        roster: whether the class is that of another list.

    Raises:
        CanvasError: the export cannot be used. OSError: the file cannot be written.
    """
    results = [entry.result for entry in entries if entry.result is not None]
    most = next((entry.most for entry in entries if entry.result), None)
    export = opened(path, column, str(results[0]["assignment"]) if results else "", out)
    owners = export.owners(entries)
    pairs = list(zip(entries, owners, strict=True))
    filled = export.fill([(e, export.students[index]) for e, index in pairs if index is not None])
    write_whole(out, export.text(filled).encode("utf-8", "backslashreplace"))
    strangers = [
        visible(entry.hand_in.called, 200)
        for entry, owner in pairs
        if owner is None and (entry.hand_in.path is not None or entry.hand_in.fault)
    ]
    nobody = [
        export.called(row)
        for index, row in enumerate(export.students)
        if index not in owners and row[0].strip().casefold() not in TEST_STUDENTS
    ]
    why = "for whom nothing was found"
    if roster:
        why = f"but not in the class, which is that of {option('roster')}"
    return [
        f"Canvas: wrote {out}, scores in {visible(export.title, 100)}: {len(filled.rows)}",
        *listed("Canvas", "with another score, which this file replaces", filled.replaced),
        *listed("Canvas", "without a new score", filled.left),
        *listed(
            "Canvas", "handed in, but could not be matched to one student in the export", strangers
        ),
        *listed("Canvas", f"in the export, {why}", nobody),
        *(export.scaled(most) if most is not None else ()),
    ]
