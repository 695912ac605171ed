"""Moodle.

Its download has a folder `Ada Lovelace_123_assignsubmission_file_` for each participant or team, or
a file whose name begins so. Underscores in names become spaces, and blind marking makes every name
`Participant`. The number is that of a participant (or team) within one assignment, and appears
elsewhere only in Moodle's own worksheet. A student chose what follows.

What Moodle's importers do (mod/assign: feedback/offline/importgradeslib.php and
feedback/file/importziplib.php): columns are found by their titles, and a file without `Last
modified (grade)` is refused. A row is skipped if Moodle's grade changed after that time, unless
staff allow it, or is locked, or if the new one is out of range. Comments are imported as they are
in the file. A feedback file belongs to the participant whose number follows the first underscore of
its name, as in `Ada Lovelace_123_assignfeedback_file_report.html`; it is the number in the
worksheet, and in the name of the download's folder.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensormark.classroom.entry import Entry
from tensormark.classroom.feedback import PAGE
from tensormark.classroom.people import CsvTable, FileError, words
from tensormark.classroom.platforms.base import Feedback, Platform, again, number
from tensormark.classroom.upload import Claim, Upload

NAMED = re.compile(
    r"(?P<name>.+?)(?:_(?P<id>[0-9]+))?_assignsubmission_(?:file|(?P<typed>onlinetext))"
    r"(?:_(?P<file>.*))?",
    re.S,
)
GRADE = "grade"
NEEDED = ("identifier", GRADE, "last modified (grade)")
MOST = "maximum grade"
SCALE = "scale"
STATUS = "status"
LATE = re.compile("[0-9] [a-z]+ late")
DRAFT = "draft (not submitted)"
ENGLISH = re.compile("submitted for grading|draft|no submission|new|reopened|graded")
CHANGEABLE = "grade can be changed"
AGAIN = "download the worksheet again"
LONGEST = 40  # letters of a student's name in a file's name


class Moodle(Platform):
    """See the module."""

    name = "moodle"
    gives_ids = True
    wanted = "this assignment's grading worksheet, downloaded while Moodle is in English"
    lists = tuple({"identifier", GRADE, own} for own in (NEEDED[2], MOST, SCALE, CHANGEABLE))
    columns = (("identifier", "moodle"),)
    grades = re.compile(f"(?P<name>{GRADE})")
    advice = (
        "Moodle skips grades that changed there after the worksheet was downloaded: download it "
        "again, or allow updating them when you upload"
    )

    def upload(self, path: Path) -> Upload | None:
        """Return a claim by the first number that may be the participant's."""
        match = NAMED.fullmatch(path.name)
        if match is None or (not match["id"] and "_" in match["name"]):
            return None
        name = match["name"]
        claim = Claim(name, self.name)
        if match["id"]:
            claim = Claim(name, self.name, (match["id"],), f"{name}_{match['id']}")
        file = match["file"] or ""
        typed = bool(match["typed"])
        return Upload(path, (claim,), file=file, again=again(file), typed=typed)

    def people(self, table: CsvTable) -> list[Entry]:
        """Return them with the number of `Participant 123`, in any language, as the id."""
        people = super().people(table)
        for person in people:
            number = re.search("[0-9]+", person.ids.get(self.name, ""))
            if number:
                person.ids = {**person.ids, self.name: number[0]}
        return people

    def most(self, table: CsvTable, place: int) -> float | None:
        """Return the maximum grade in the worksheet's rows."""
        found = (number(table.named(row).get(MOST, "")) for row in table.rows[1:])
        return next((value for value in found if value is not None), None)

    def check(self, table: CsvTable) -> None:
        """Check that it has the columns that Moodle looks for, and points."""
        for title in NEEDED:
            if table.titles.count(title) != 1:
                how = "no column" if title not in table.titles else "two columns"
                raise FileError(f"{table.path}: has {how} {title!r}; {AGAIN}, in English")
        if SCALE in table.titles:
            fix = f"choose points in the assignment's settings, and {AGAIN}"
            raise FileError(f"{table.path}: Moodle grades it on a scale; {fix}")

    def refuses(self, entry: Entry) -> str:
        """Return it where the worksheet says so."""
        is_locked = entry.cells.get(CHANGEABLE, "").casefold() == "no"
        return "the grade cannot be changed in Moodle" if is_locked else ""

    def read_status(self, entry: Entry) -> str:
        """Read it as in "Submitted for grading - 30 mins late".

        Staff should know of a draft, which a student may still change, of an unknown status, and of
        another name, as another assignment has the same numbers for others.
        """
        status = entry.cells.get(STATUS, "").casefold()
        is_english = ENGLISH.match(status)
        if is_english:
            entry.late = bool(LATE.search(status))
        listed = words(entry.cells.get("full name", ""))
        named = words(self._claim(entry).name)
        if listed and named and set(named).isdisjoint(listed):
            return f"with other names than in the worksheet; {AGAIN}"
        if status and not is_english:
            return f"nobody knows if it was late, as its status is not English; {AGAIN}, in English"
        return "only a draft, which is not submitted in Moodle" if DRAFT in status else ""

    def _claim(self, entry: Entry) -> Claim:
        """Return that of what somebody handed in; an empty one if there is none."""
        upload = self.upload(entry.path) if entry.path else None
        return upload.claims[0] if upload else Claim("", self.name)

    def _participant(self, entry: Entry) -> str:
        """Return somebody's number by the worksheet, else by the folder; "" if neither has it."""
        return entry.ids.get(self.name) or "".join(self._claim(entry).ids)

    def feedback(self, entries: Sequence[Entry], folder: Path) -> Iterator[Feedback]:
        """Yield a page for each participant.

        The name in the file's name is for people, and reduced to letters, digits and spaces: an
        underscore or a slash would displace the number.
        """
        counts = Counter(map(self._participant, entries))
        for entry in entries:
            participant = self._participant(entry)
            if not entry.folder:
                continue
            if not participant or counts[participant] > 1:
                yield entry, entry.label, "no folder has a participant's number for them alone"
            else:
                plain = unicodedata.normalize("NFC", entry.name)
                letters = "".join(char if char.isalnum() else " " for char in plain)
                name = " ".join(letters.split())[:LONGEST].strip() or "Participant"
                file = f"{name}_{participant}_assignfeedback_file_{PAGE}"
                yield entry, file, (folder / entry.folder / PAGE).read_bytes()
