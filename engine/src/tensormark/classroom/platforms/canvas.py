"""Canvas.

Its download has `lovelaceada_12345_678_main.py`, or `lovelaceada_LATE_12345_678_main.py`; a text or
link typed into a form is `lovelaceada_12345_text.html`. A display name is reduced to letters,
combining marks, digits and underscores, in lower case, so that a name has as many readings as it
has places where an id could be. With anonymous grading, a name begins with `anon`, and has a random
id that is in no list: `anon_x7Kp2_678_main.py`.

Its gradebook export is imported again (lib/gradebook_importer.rb): an assignment is found by the
number in its title, and changed where a score differs from Canvas's at that time. A row with
`Points Possible` in its first cell is that of the maxima.

"Upload Submissions" (app/models/assignment.rb, infer_comment_context_from_filename) reads the first
two numbers between underscores, or what follows `anon`, of each name in a zip. They must identify a
student and a file that this student handed in, under whose name the attachment appears: a page
would appear as `main.py`. So names stay unchanged, and each student gets what fits the name: Python
comments, or a zip with the page.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensormark.classroom.entry import Entry
from tensormark.classroom.feedback import PAGE, as_comments
from tensormark.classroom.people import CsvTable
from tensormark.classroom.platforms.base import Feedback, Platform, again, number
from tensormark.classroom.upload import Claim, Upload
from tensormark.files import encoded
from tensormark.zipped import zipped

NAMED = re.compile(
    r"_(?P<late>LATE_)?(?P<id>[0-9]+)_(?:[0-9]+_(?P<file>.+)|(?P<typed>text|link)\.html)", re.S
)
ANONYMOUS = re.compile(
    r"(?:(?P<late>LATE_anon|anon_LATE)|anon)(?P<id>_[0-9A-Za-z]{1,32})"
    r"_(?:(?P<typed>text|link)\.html|(?:[0-9]+_)?(?P<file>.+))",
    re.S,
)
BEGINS = ("anon_", "LATE_anon_")
# a display name, in which unpacking may have changed any letter that is not ASCII
DISPLAYED = re.compile(r"(?:\w|[^\x00-\x7f]|#U[0-9a-f]{4}|#L[0-9a-f]{6})*", re.A)
MAXIMA = "Points Possible"


class Canvas(Platform):
    """See the module."""

    name = "canvas"
    gives_ids = True
    wanted = (
        "Canvas's gradebook export, and download the submissions again without anonymous grading "
        "if their names begin with anon"
    )
    test_students = ("student, test", "test student")
    lists = tuple({"id", "section", sis} for sis in ("sis login id", "sis user id"))
    columns = (("student", "name"), ("id", "canvas"))
    grades = re.compile(r"(?P<name>.+) \([0-9]+\)", re.S)

    def upload(self, path: Path) -> Upload | None:
        """Return a claim for each number that may be the id; an anonymous one comes first.

        The first reading says what it is; what can be read as late is late.
        """
        name = path.name
        anonymous = name.startswith(BEGINS)
        pattern = ANONYMOUS if anonymous else NAMED
        places = [0] if anonymous else [found.start() for found in re.finditer("_", name)]
        claims: dict[str, Claim] = {}
        matches = []
        for place in places:
            match = pattern.fullmatch(name, place)
            if match and DISPLAYED.fullmatch(name, 0, place):
                student = f"anon{match['id']}" if anonymous else match["id"]
                claim = Claim(name[:place], self.name, (student,), student)
                claims.setdefault(student, claim)
                matches.append(match)
        if not matches:
            return None
        file = matches[0]["file"] or ""
        return Upload(
            path,
            tuple(claims.values()),
            file=file,
            again=again(file),
            late=any(match["late"] for match in matches),
            typed=bool(matches[0]["typed"]),
        )

    def most(self, table: CsvTable, place: int) -> float | None:
        """Return the cell in the row of the maxima."""
        rows = (row for row in table.rows[1:5] if MAXIMA in "".join(row[:1]))
        return next((number(row[place]) for row in rows if place < len(row)), None)

    def refuses(self, entry: Entry) -> str:
        """Return it for a student whose name Canvas would take for the maxima."""
        is_maxima = MAXIMA in entry.cells.get("student", "")
        return f"Canvas takes a row with {MAXIMA!r} in the name for the maxima" if is_maxima else ""

    def feedback(self, entries: Sequence[Entry], folder: Path) -> Iterator[Feedback]:
        """Yield a file for each one that Canvas named."""
        for entry in entries:
            if not entry.folder:
                continue
            upload = self.upload(entry.path) if entry.path else None
            if upload is None:
                yield entry, entry.label, "handed in no file that Canvas named, to attach it to"
                continue
            name = upload.path.name
            if [_owner(name)] != [claim.student for claim in upload.claims]:
                yield entry, name, "Canvas could not match the file name to that student alone"
            elif name.lower().endswith(".zip"):
                yield entry, name, zipped({PAGE: (folder / entry.folder / PAGE).read_bytes()})
            elif name.lower().endswith(".py"):
                yield entry, name, encoded(as_comments(entry))
            else:
                yield entry, name, "not a .py or .zip file, and Canvas would show the report as one"


def _owner(name: str) -> str:
    """Return the student whose file Canvas takes this for, by its name; "" if nobody's."""
    parts = [part for part in name.split("_") if part != "LATE"]
    ids = [part for part in parts if part.isascii() and part.isdecimal()]
    if parts[0] == "anon":
        return f"anon_{parts[1]}" if parts[2:3] and parts[2] in ids else ""
    return ids[0] if len(ids) > 1 else ""
