"""Questions for each student about their own code: sheets to give out, and keys for staff.

viva/sheets/<student>.html   without answers; viva/keys/<student>.html and keys.html: for staff only

A sheet is drawn with a seed made of the student and a secret of the class, so that the same command
draws the same sheets and nobody else can. A submission without usable questions does not stop a
run: a note says why there are none.
"""

import hmac
from collections.abc import Sequence
from pathlib import Path

from tensormark.characters import first_of
from tensormark.classroom.entry import Entry, number_of
from tensormark.classroom.jobs import Job, Result
from tensormark.exercise import Assignment
from tensormark.files import encoded, write_whole
from tensormark.reports import pages
from tensormark.result import Outcome
from tensormark.viva import draw, sheet_page
from tensormark.viva.question import Sheet

FOLDER = "viva"
TEMPLATES = Path(__file__).with_name("templates")
NOTHING_RIGHT = "no function is right"
NO_QUESTION = "no good question was found"


def job_of(entry: Entry, number: int, secret: bytes, assignment: Assignment) -> Job | None:
    """Return the job that makes a student's questions; None if no function is right."""
    passed = [each["id"] for each in entry.exercises if each["outcome"] == Outcome.PASSED]
    if entry.submission is None or not draw.askable(assignment, passed):
        return None
    seed = hmac.digest(secret, encoded(entry.student), "sha256").hex()
    return Job(entry.submission, tuple(passed), seed, number)


def note_sheet(entry: Entry, result: Result) -> None:
    """Note a student's sheet, or why there is none."""
    if "sheet" not in result:
        entry.sheet_note = result["note"]
        return
    sheet = Sheet.from_json(result["sheet"])
    entry.sheet_note = "; ".join(sheet.notes)
    if sheet.questions:
        entry.sheet = sheet
    else:
        entry.sheet_note = entry.sheet_note or NO_QUESTION


def write(entries: Sequence[Entry], out: Path) -> list[str]:
    """Write the questions of a class below `out`; return lines for staff.

    The files are named like the folders of feedback.

    Raises:
        OSError: a file cannot be written.
    """
    for entry in entries:
        if entry.sheet is not None:
            name = f"{entry.folder}.html"
            write_whole(out / FOLDER / "sheets" / name, sheet_page.paper(entry.sheet, entry.label))
            write_whole(out / FOLDER / "keys" / name, sheet_page.key(entry.sheet, entry.label))
    keys = pages.page(
        "Questions: keys", TEMPLATES / "keys.html.j2", TEMPLATES / "keys.css", entries=entries
    )
    write_whole(out / FOLDER / "keys.html", keys)
    without = [entry for entry in entries if entry.sheet is None]
    made = number_of(len(entries) - len(without), "sheet")
    lines = [f"viva: {made} in {FOLDER}/sheets; for staff: {FOLDER}/keys.html"]
    for note in dict.fromkeys(entry.sheet_note for entry in without):
        students = [entry.label for entry in without if entry.sheet_note == note]
        count = number_of(len(students), "student")
        lines.append(f"viva: no questions for {count} ({note}): {first_of(students)}")
    return lines
