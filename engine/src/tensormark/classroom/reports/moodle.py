"""Fill in Moodle's grading worksheet with the marks of a class, and name its feedback files.

What Moodle's own importers do (from mod/assign: gradingtable.php, classes/downloader.php,
feedback/offline/importgradeslib.php and locallib.php, feedback/file/importziplib.php):

Columns are found by their titles, and a file without `Last modified (grade)` is refused. A row is
skipped if Moodle's grade changed after that time or is locked, or if the new one is out of range.
Where a scale is used, there is a column Scale, and no `Maximum grade`. Comments are imported as
they are in the file. Hence only the cells of grades are changed, and every other byte is kept.

A feedback file belongs to the participant whose number follows the first underscore of its name, as
in `Ada Lovelace_123_assignfeedback_file_report.html`. This is the number in the worksheet; the one
in the name of a team's download is the team's.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tensormark.classroom.entry import Entry
from tensormark.classroom.failure import FileError
from tensormark.classroom.reports.canvas import is_same, number
from tensormark.classroom.students.roster import NUMBER, text_of
from tensormark.classroom.typed import separator_of
from tensormark.files import opened_regular
from tensormark.reports.text import points, visible

IDENTIFIER, GRADE, MODIFIED = NEEDED = ("identifier", "grade", "last modified (grade)")
MOST, SCALE, CHANGEABLE = "maximum grade", "scale", "grade can be changed"
NO = "no"
BOM = b"\xef\xbb\xbf"
LONGEST = 40  # letters of a student's name in a file's name
AGAIN = "download the worksheet again"

Row = list[tuple[int, int]]  # where each cell starts and stops in the text


@dataclass
class Filled:
    """A worksheet with marks, their number, and lines that report replaced and kept grades."""

    content: bytes = b""
    count: int = 0
    replaced: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def cells_of(text: str, separator: str) -> list[Row]:
    """Return the positions of a CSV file's cells, by row; quotes belong to their cell."""
    cell = re.compile(rf'("(?:[^"]|"")*+"|[^{separator}\r\n]*)({separator}|\r\n|[\r\n]|\Z)')
    rows: list[Row] = []
    row: Row = []
    position = 0
    while position < len(text) or row:
        match = cell.match(text, position)
        assert match is not None
        row.append(match.span(1))
        position = match.end()
        if match[2] != separator:
            rows.append(row)
            row = []
    return rows


class Worksheet:
    """Moodle's grading worksheet, as it was downloaded."""

    def __init__(self, path: Path) -> None:
        """Read a worksheet.

        Raises:
            FileError: it is not a CSV file. OSError: it cannot be read.
        """
        self.path, self.text = path, text_of(path)
        with opened_regular(path, follow=True) as file:
            self.mark = BOM if file.read(len(BOM)) == BOM else b""
        header, *self.rows = cells_of(self.text, separator_of(self.text)) or [[]]
        self.titles = [self.cell(span).casefold() for span in header]

    def cell(self, span: tuple[int, int]) -> str:
        """Return the content of a cell."""
        text = self.text[slice(*span)]
        quoted = text.startswith('"') and text.endswith('"') and len(text) > 1
        return (text[1:-1].replace('""', '"') if quoted else text).strip()

    def under(self, title: str, row: Row) -> str:
        """Return a row's cell in the column with a title, or "" if there is none."""
        place = self.titles.index(title) if title in self.titles else len(row)
        return self.cell(row[place]) if place < len(row) else ""

    @property
    def is_one(self) -> bool:
        """Whether it is a worksheet of Moodle's rather than another list of the class."""
        own = {MODIFIED, MOST, SCALE, CHANGEABLE}.intersection(self.titles)
        return bool(own) and {IDENTIFIER, GRADE} <= set(self.titles)

    def check(self, most: float | None) -> None:
        """Check that Moodle would accept it.

        Args:
            most: the highest mark of this class, if anything was graded.

        Raises:
            FileError: it would not, or its grades have another meaning.
        """
        for title in NEEDED:
            if self.titles.count(title) != 1:
                how = "no column" if title not in self.titles else "two columns"
                raise FileError(f"{self.path}: has {how} {title!r}; {AGAIN}, in English")
        if SCALE in self.titles:
            fix = f"choose points in the assignment's settings, and {AGAIN}"
            raise FileError(f"{self.path}: Moodle grades it on a scale; {fix}")
        maxima = (number(self.under(MOST, row)) for row in self.rows)
        others = [value for value in maxima if value is not None and value != most]
        if others and most is not None:
            raise FileError(
                f"{self.path}: the maximum grade is {points(others[0])} in Moodle, {points(most)} "
                f"here, and nothing is scaled; change the assignment's settings, and {AGAIN}"
            )

    def refusal(self, row: Row, entry: Entry) -> str:
        """Return why a row keeps its grade, or "" if it does not."""
        old, most = self.under(GRADE, row), number(self.under(MOST, row))
        if entry.mark is None:
            return entry.without
        if len(row) <= self.titles.index(GRADE):
            return "has no cell for a grade in the worksheet"
        if self.under(CHANGEABLE, row).casefold() == NO:
            return "the grade cannot be changed in Moodle"
        if old and number(old) is None:
            return f"has {visible(old, 40)!r} in Moodle, which is kept"
        if entry.mark < 0 or (most is not None and entry.mark > most):
            return f"{points(entry.mark)} is not among the grades that Moodle allows"
        return ""

    def change(self, row: Row, entry: Entry, filled: Filled) -> str | None:
        """Return the new content of a row's grade, or None to keep it; record it in `filled`."""
        name = visible(entry.hand_in.called, 200)
        why, old = self.refusal(row, entry), self.under(GRADE, row)
        if why or entry.mark is None:
            filled.left.append(f"{name}: {visible(why, 200)}")
            return None
        filled.count += 1
        if is_same(old, entry.mark):
            return None
        if old:
            filled.replaced.append(f"{name}: {old} becomes {points(entry.mark)}")
        quote = '"' if self.text.startswith('"', row[self.titles.index(GRADE)][0]) else ""
        return f"{quote}{points(entry.mark)}{quote}"

    def fill(self, entries: Sequence[Entry]) -> Filled:
        """Return the worksheet with everybody's mark, and lines that report it."""
        filled, pieces, end = Filled(), [], 0
        students = {entry.hand_in.student: entry for entry in entries if entry.hand_in.known}
        for row in self.rows:
            entry = students.get(self.under(IDENTIFIER, row))
            new = self.change(row, entry, filled) if entry else None
            if new is not None:
                start, stop = row[self.titles.index(GRADE)]
                pieces += [self.text[end:start], new]
                end = stop
        filled.content = self.mark + "".join([*pieces, self.text[end:]]).encode()
        return filled


def feedback_name(entry: Entry, file: str) -> str:
    """Return the name of a feedback file for a student of a worksheet, or "" without a number.

    The student's name in it is for people, and reduced to letters, digits and spaces, because an
    underscore or a slash would displace the number.
    """
    participant = NUMBER.fullmatch(entry.hand_in.student)
    plain = unicodedata.normalize("NFC", entry.hand_in.name)
    words = "".join(char if char.isalnum() else " " for char in plain).split()
    name = " ".join(words)[:LONGEST].strip() or "Participant"
    return f"{name}_{participant[1]}_assignfeedback_file_{file}" if participant else ""
