"""Canvas.

Its download has `lovelaceada_12345_678_main.py`, or `lovelaceada_LATE_12345_678_main.py`; a text or
link typed into a form is `lovelaceada_12345_text.html`. A display name is reduced to letters,
combining marks, digits and underscores, in lower case, so that a name has as many readings as it
has places where an id could be. With anonymous grading, there is a random id:
`anon_x7Kp2_678_main.py`.

Its gradebook imports one column, and clears the score where a cell is blank, so the file has a row
only for students with a mark. It creates a new assignment for a title that it does not know.

"Upload Submissions" (app/models/assignment.rb, infer_comment_context_from_filename) reads the first
two numbers between underscores, or what follows `anon`, of each name in a zip. They must identify a
student and a file that this student handed in, under whose name the attachment appears: a page
would appear as `main.py`. So names stay unchanged, and each student gets what fits the name: Python
comments, or a zip with the page.
"""

import csv
import io
import re
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
from tensormark.files import encoded
from tensormark.reports.platforms import cell
from tensormark.reports.text import points, visible
from tensormark.zipped import zipped

NAMED = re.compile(
    r"_(?P<late>LATE_)?(?P<id>[0-9]+)_(?:[0-9]+_(?P<file>.+)|(?:text|link)\.html)", re.S
)
ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<id>anon_[0-9A-Za-z]{1,32})_(?:(?:text|link)\.html|(?:[0-9]+_)?(?P<file>.+))",
    re.S,
)
ESCAPED = re.compile("#(?:U[0-9a-f]{4}|L[0-9a-f]{6})")  # a letter as unzip may write it
TITLE = re.compile(r"(.+) \(([0-9]+)\)", re.S)  # of an assignment's column, with its id
MAXIMA = "Points Possible"
SECTION = "section"  # the last of the columns about students
EXCUSED = "EX"
SHOWN = 40  # titles in a message


def _readings(name: str) -> list[tuple[str, re.Match[str]]]:
    """Return each way to split a name into a display name and what Canvas adds.

    Unpacking the download may have changed any letter that is not ASCII.
    """
    found = []
    for display, match in splits(NAMED, name):
        letters = ESCAPED.sub("", display)
        if all(c.isalnum() or c == "_" or not c.isascii() for c in letters):
            found.append((display, match))
    anonymous = ANONYMOUS.fullmatch(name)
    return [(anonymous["id"], anonymous)] if anonymous and not found else found


class Canvas(Platform):
    """See the module."""

    name = "canvas"
    own = needed = "canvas"
    chosen_by_students = False
    columns: ClassVar[Mapping[str, str]] = {
        **{"student": "name", "lastname": "last", "firstname": "first"},
        **{"id": "canvas", "sis user id": "id", "sis login id": "login"},
    }

    def claims(self, path: Path) -> list[Claim]:
        """Return a claim for each number that may be the id."""
        return different(
            Claim(display, {"canvas": match["id"]}, match["id"])
            for display, match in _readings(path.name)
        )

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read all names; one that can be read as late is late, so that no name helps anybody."""
        uploads = []
        for path in paths:
            readings = _readings(path.name)
            if not readings:
                uploads.append(own_name(path))
                continue
            files = [match["file"] or "" for _, match in readings]
            uploads.append(
                Upload(
                    path,
                    tuple(self.claims(path)),
                    file=files[0],
                    again=again(files[0]),
                    late=any(match["late"] for _, match in readings),
                    typed=not files[0],
                )
            )
        return uploads

    def is_list(self, titles: Sequence[str]) -> bool:
        """Say whether this is an export of the gradebook."""
        sis = "sis login id" in titles or "sis user id" in titles
        first = titles[0] if titles else ""
        return first in ("student", "lastname") and "id" in titles and SECTION in titles and sis

    def _column(self, class_list: ClassList, wanted: str) -> int:
        """Return the place of the column to fill.

        Args:
            wanted: its title, with or without its number, or the number alone.
        """
        titles = [
            (place, match)
            for place, text in enumerate(class_list.rows[0])
            if (match := TITLE.fullmatch(text))
        ]
        hits = [place for place, match in titles if wanted in (match[0], match[2])]
        if not hits:
            hits = [place for place, match in titles if match[1].casefold() == wanted.casefold()]
        if len(hits) == 1:
            return hits[0]
        names = "; ".join(visible(match[0], 100) for _, match in titles[:SHOWN]) or "none"
        count = "several columns" if hits else "no column"
        raise FileError(
            f"{class_list.path}: has {count} titled {visible(wanted, 60)!r}; set column in "
            f"class.toml to one of these titles, with its number: {names}"
        )

    def marks(
        self, class_list: ClassList, column: str, most: float, marks: Sequence[Mark]
    ) -> MarksFile:
        """Return the columns about students, unchanged, and the assignment's; EX is kept."""
        place = self._column(class_list, column)
        about = class_list.titles.index(SECTION) + 1
        text = io.StringIO()
        writer = csv.writer(text, delimiter=class_list.separator, lineterminator="\n")
        writer.writerow([*class_list.rows[0][:about], class_list.rows[0][place]])
        result = MarksFile()
        for mark in marks:
            if mark.hand_in.place is None:
                continue
            row = class_list.rows[class_list.people[mark.hand_in.place].row]
            name = visible(mark.hand_in.called, 200)
            old = row[place].strip() if place < len(row) else ""
            if mark.points is None:
                result.left.append(f"{name}: {visible(mark.without, 200)}")
            elif old and number(old) is None:
                kept = "is excused" if old.upper() == EXCUSED else f"has {visible(old, 40)!r}"
                result.left.append(f"{name}: {kept} in Canvas, which is kept")
            else:
                before = number(old)
                if before is not None and abs(before - mark.points) >= ROUNDED:
                    change = f"{name}: {visible(old, 40)} becomes {points(mark.points)}"
                    result.replaced.append(change)
                # a row must be neither a formula to a spreadsheet nor that of the maxima to Canvas
                cells = [str(cell(each.replace(MAXIMA, "Points_Possible"))) for each in row[:about]]
                writer.writerow([*cells, points(mark.points)])
                result.count += 1
        result.text = text.getvalue()
        maxima = [row for row in class_list.rows[1:5] if row and MAXIMA in row[0]]
        there = number(maxima[0][place]) if maxima and place < len(maxima[0]) else None
        if there is not None and there != most:
            possible = f"{points(there)} points are possible there, {points(most)} here"
            result.warning = f"{possible}; nothing is scaled"
        return result

    def feedback(self, marks: Sequence[Mark]) -> Iterator[tuple[str, bytes | str]]:
        """Yield a file for each downloaded one."""
        for mark in marks:
            path = mark.hand_in.path
            if path is None or mark.report is None or not self.claims(path):
                continue
            name = path.name
            if (
                _owner(name) not in {claim.student for claim in self.claims(path)}
                or len(self.claims(path)) > 1
            ):
                yield name, "Canvas would not read the name as that student's alone"
            elif not name.isprintable() or set(name) & set('\\/:*?"<>|'):
                yield name, "the name is not safe in a zip"
            elif name.lower().endswith(".zip"):
                yield name, zipped({"report.html": mark.report.read_bytes()})
            elif name.lower().endswith(".py"):
                yield name, encoded(mark.comments)
            else:
                yield name, "not a .py or .zip file, and Canvas would show the report as one"


def _owner(name: str) -> str:
    """Return the student whose file Canvas takes this for, by its name; "" if nobody's."""
    parts = [part for part in name.split("_") if part != "LATE"]
    ids = [part for part in parts if part.isascii() and part.isdecimal()]
    if parts[0] == "anon":
        return f"anon_{parts[1]}" if parts[2:3] and parts[2] in ids else ""
    return ids[0] if len(ids) > 1 else ""
