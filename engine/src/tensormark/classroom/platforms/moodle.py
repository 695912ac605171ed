"""Moodle.

Its download has a folder `Ada Lovelace_123_assignsubmission_file_` for each participant or team, or
a file whose name begins so. Underscores in names become spaces, and blind marking makes every name
`Participant`. The number is that of a participant (or team) within one assignment, and appears
elsewhere only in Moodle's own worksheet. A student chose what follows.

What Moodle's importers do (mod/assign: feedback/offline/importgradeslib.php and
feedback/file/importziplib.php): columns are found by their titles, and a file without `Last
modified (grade)` is refused. A row is skipped if Moodle's grade changed after that time or is
locked, or if the new one is out of range. Comments are imported as they are in the file. So only
grades are changed. A feedback file belongs to the participant whose number follows the first
underscore of its name, as in `Ada Lovelace_123_assignfeedback_file_report.html`; it is the number
in the worksheet.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensormark.classroom.entry import Claim, Entry, Upload
from tensormark.classroom.feedback import PAGE
from tensormark.classroom.people import FileError, Table
from tensormark.classroom.platforms.base import MarksFile, Platform, again, new_marks, number
from tensormark.reports.platforms import cell
from tensormark.reports.text import points

NAMED = re.compile(
    r"(?P<name>.+?)(?:_(?P<id>[0-9]+))?_assignsubmission_(?:file|(?P<typed>onlinetext))"
    r"(?:_(?P<file>.*))?",
    re.S,
)
GRADE = "grade"
NEEDED = ("identifier", GRADE, "last modified (grade)")
MOST = "maximum grade"
SCALE = "scale"
CHANGEABLE = "grade can be changed"
COMMENTS = "feedback comments"
AGAIN = "download the worksheet again"
LONGEST = 40  # letters of a student's name in a file's name


class Moodle(Platform):
    """See the module."""

    name = "moodle"
    written = ("moodle.csv", "moodle-feedback.zip")
    chosen_by_students = False
    wanted = "this assignment's grading worksheet, downloaded while Moodle is in English"
    lists = tuple({"identifier", GRADE, own} for own in (NEEDED[2], MOST, SCALE, CHANGEABLE))
    columns = (("identifier", "moodle"),)

    def upload(self, path: Path) -> Upload | None:
        """Return a claim by the first number that may be the participant's."""
        match = NAMED.fullmatch(path.name)
        if match is None or (not match["id"] and "_" in match["name"]):
            return None
        name = match["name"]
        claim = Claim(name)
        if match["id"]:
            claim = Claim(name, {"moodle": match["id"]}, f"{name}_{match['id']}")
        file = match["file"] or ""
        typed = bool(match["typed"])
        return Upload(path, (claim,), file=file, again=again(file), typed=typed)

    def marks(self, table: Table, column: str, most: float, entries: Sequence[Entry]) -> MarksFile:
        """Return the worksheet with everybody's mark."""
        titles = table.titles
        for title in NEEDED:
            if titles.count(title) != 1:
                how = "no column" if title not in titles else "two columns"
                raise FileError(f"{table.path}: has {how} {title!r}; {AGAIN}, in English")
        if SCALE in titles:
            fix = f"choose points in the assignment's settings, and {AGAIN}"
            raise FileError(f"{table.path}: Moodle grades it on a scale; {fix}")
        maxima = {number(table.named(row).get(MOST, "")) for row in table.rows[1:]} - {None, most}
        if maxima:
            there = points(max(value for value in maxima if value is not None))
            raise FileError(
                f"{table.path}: the maximum grade is {there} in Moodle, {points(most)} here, "
                f"and nothing is scaled; change the assignment's settings, and {AGAIN}"
            )
        result = new_marks(
            table, titles.index(GRADE), entries, lambda row, mark: _why_not(table, row, mark, most)
        )
        rows = [list(row) for row in table.rows]
        for index, mark in result.marks.items():
            rows[index][titles.index(GRADE)] = mark
        result.text = table.with_rows([_without_formulas(titles, row) for row in rows])
        return result

    def feedback(self, entries: Sequence[Entry], folder: Path) -> Iterator[tuple[str, bytes | str]]:
        """Yield a page for each participant of the worksheet.

        The name in the file's name is for people, and reduced to letters, digits and spaces: an
        underscore or a slash would displace the number.
        """
        for entry in entries:
            participant = re.fullmatch(r".*?([0-9]+)", entry.student, re.S)
            if entry.folder and entry.row is not None and participant:
                plain = unicodedata.normalize("NFC", entry.name)
                letters = "".join(char if char.isalnum() else " " for char in plain)
                name = " ".join(letters.split())[:LONGEST].strip() or "Participant"
                file = f"{name}_{participant[1]}_assignfeedback_file_{PAGE}"
                yield file, (folder / entry.folder / PAGE).read_bytes()


def _without_formulas(titles: Sequence[str], row: Sequence[str]) -> list[str]:
    """Return a row that a spreadsheet may open.

    A dash is Moodle's word for "never", and comments are staff's, which Moodle imports again.
    """
    comments = titles.index(COMMENTS) if COMMENTS in titles else -1
    return [
        text if text == "-" or place == comments else cell(text) for place, text in enumerate(row)
    ]


def _why_not(table: Table, row: Sequence[str], mark: float, most: float) -> str:
    """Return why Moodle would not take a mark; "" if it would."""
    if len(row) <= table.titles.index(GRADE):
        return "has no cell for a grade in the worksheet"
    if table.named(row).get(CHANGEABLE, "").casefold() == "no":
        return "the grade cannot be changed in Moodle"
    if not 0 <= mark <= most:
        return f"{points(mark)} is not among the grades that Moodle allows"
    return ""
