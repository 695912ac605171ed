"""Moodle.

Its download has a folder `Ada Lovelace_123_assignsubmission_file_` for each participant or team, or
a file whose name begins so. Underscores in names become spaces. The number is that of a participant
(or team) within one assignment, and appears elsewhere only in Moodle's own worksheet.

What Moodle's importers do (mod/assign: feedback/offline/importgradeslib.php and
feedback/file/importziplib.php): columns are found by their titles, and a file without `Last
modified (grade)` is refused. A row is skipped if Moodle's grade changed after that time or is
locked, or if the new one is out of range. Comments are imported as they are in the file. So only
grades are changed. A feedback file belongs to the participant whose number follows the first
underscore of its name, as in `Ada Lovelace_123_assignfeedback_file_report.html`; it is the number
in the worksheet.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tensormark.classroom.hand_in import Claim, Upload
from tensormark.classroom.people import ClassList, FileError
from tensormark.classroom.platforms.base import (
    ROUNDED,
    Mark,
    MarksFile,
    Platform,
    again,
    different,
    number,
    own_name,
    splits,
)
from tensormark.reports.platforms import cell
from tensormark.reports.text import points, visible

NAMED = re.compile(
    r"(?:_(?P<id>[0-9]+))?_assignsubmission_(?:file|(?P<text>onlinetext))(?:_(?P<file>.*))?", re.S
)
GRADE = "grade"
NEEDED = ("identifier", GRADE, "last modified (grade)")
MOST = "maximum grade"
SCALE = "scale"
CHANGEABLE = "grade can be changed"
COMMENTS = "feedback comments"
AGAIN = "download the worksheet again"
LONGEST = 40  # letters of a student's name in a file's name


def _readings(name: str) -> list[tuple[str, re.Match[str]]]:
    """Return each way to split a name into a participant's and what Moodle adds."""
    return [
        (display, match)
        for display, match in splits(NAMED, name)
        if display and (match["id"] or "_" not in display)
    ]


class Moodle(Platform):
    """See the module."""

    name = "moodle"
    own = needed = "moodle"
    chosen_by_students = False
    columns: ClassVar[Mapping[str, str]] = {
        **{"identifier": "moodle", "full name": "name", "email address": "email"},
        **{"id number": "id", "username": "login", "group": "team"},
        **{"first name": "first", "last name": "last"},
    }

    def claims(self, path: Path) -> list[Claim]:
        """Return a claim for each number that may be the participant's."""
        return different(
            Claim(
                display,
                {"moodle": match["id"]} if match["id"] else {},
                f"{display}_{match['id']}" if match["id"] else display,
            )
            for display, match in _readings(path.name)
        )

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read all names."""
        uploads = []
        for path in paths:
            readings = _readings(path.name)
            if not readings:
                uploads.append(own_name(path))
                continue
            _, first = readings[0]
            file = first["file"] or ""
            claims = tuple(self.claims(path))
            typed = bool(first["text"])
            uploads.append(Upload(path, claims, file=file, again=again(file), typed=typed))
        return uploads

    def is_list(self, titles: Sequence[str]) -> bool:
        """Say whether this is the grading worksheet."""
        own = {NEEDED[2], MOST, SCALE, CHANGEABLE}.intersection(titles)
        return bool(own) and {"identifier", GRADE} <= set(titles)

    def marks(
        self, class_list: ClassList, column: str, most: float, marks: Sequence[Mark]
    ) -> MarksFile:
        """Return the worksheet with everybody's mark."""
        del column
        titles = class_list.titles
        for title in NEEDED:
            if titles.count(title) != 1:
                how = "no column" if title not in titles else "two columns"
                raise FileError(f"{class_list.path}: has {how} {title!r}; {AGAIN}, in English")
        if SCALE in titles:
            fix = f"choose points in the assignment's settings, and {AGAIN}"
            raise FileError(f"{class_list.path}: Moodle grades it on a scale; {fix}")
        rows = [list(row) for row in class_list.rows]
        worksheet = _Worksheet(titles)
        maxima = {number(worksheet.cell(row, MOST)) for row in rows[1:]} - {None, most}
        if maxima:
            there = points(max(value for value in maxima if value is not None))
            raise FileError(
                f"{class_list.path}: the maximum grade is {there} in Moodle, {points(most)} here, "
                f"and nothing is scaled; change the assignment's settings, and {AGAIN}"
            )
        result = MarksFile()
        for mark in marks:
            if mark.hand_in.place is not None:
                worksheet.fill(rows[class_list.people[mark.hand_in.place].row], mark, most, result)
        file = io.StringIO()
        writer = csv.writer(file, delimiter=class_list.separator, lineterminator="\n")
        # a dash is Moodle's word for "never", and comments are staff's, which Moodle imports again;
        # nothing else must be a formula
        writer.writerows(
            [
                text if text == "-" or titles[place : place + 1] == [COMMENTS] else cell(text)
                for place, text in enumerate(row)
            ]
            for row in rows
        )
        result.text = file.getvalue()
        return result

    def feedback(self, marks: Sequence[Mark]) -> Iterator[tuple[str, bytes | str]]:
        """Yield a page for each participant of the worksheet.

        The name in the file's name is for people, and reduced to letters, digits and spaces: an
        underscore or a slash would displace the number.
        """
        for mark in marks:
            participant = re.fullmatch(r".*?([0-9]+)", mark.hand_in.student, re.S)
            if mark.report is None or mark.hand_in.place is None or participant is None:
                continue
            plain = unicodedata.normalize("NFC", mark.hand_in.name)
            letters = "".join(char if char.isalnum() else " " for char in plain)
            name = " ".join(letters.split())[:LONGEST].strip() or "Participant"
            file = f"{name}_{participant[1]}_assignfeedback_file_report.html"
            yield file, mark.report.read_bytes()


class _Worksheet:
    """The columns of a worksheet."""

    def __init__(self, titles: Sequence[str]) -> None:
        self.titles = titles

    def cell(self, row: Sequence[str], title: str) -> str:
        """Return a row's cell in the column with a title, or "" if there is none."""
        place = self.titles.index(title) if title in self.titles else len(row)
        return row[place].strip() if place < len(row) else ""

    def fill(self, row: list[str], mark: Mark, most: float, result: MarksFile) -> None:
        """Write a mark into a row, or say why it keeps its grade."""
        name = visible(mark.hand_in.called, 200)
        old = self.cell(row, GRADE)
        why = ""
        if mark.points is None:
            why = visible(mark.without, 200)
        elif len(row) <= self.titles.index(GRADE):
            why = "has no cell for a grade in the worksheet"
        elif self.cell(row, CHANGEABLE).casefold() == "no":
            why = "the grade cannot be changed in Moodle"
        elif old and number(old) is None:
            why = f"has {visible(old, 40)!r} in Moodle, which is kept"
        elif not 0 <= mark.points <= most:
            why = f"{points(mark.points)} is not among the grades that Moodle allows"
        if why or mark.points is None:
            result.left.append(f"{name}: {why}")
            return
        result.count += 1
        before = number(old)
        if before is not None and abs(before - mark.points) >= ROUNDED:
            result.replaced.append(f"{name}: {visible(old, 40)} becomes {points(mark.points)}")
        row[self.titles.index(GRADE)] = points(mark.points)
