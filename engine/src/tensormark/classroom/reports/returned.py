"""Writes what goes back to the platform that a class came from, besides canvas.csv.

moodle.csv            the grading worksheet that was given as the roster, with marks; see moodle.py
moodle-feedback.zip   a page for each participant, for "Upload multiple feedback files in a zip"
canvas-feedback.zip   a file for each downloaded one, for "Upload Submissions"

What Canvas does with that zip (see app/models/assignment.rb, generate_comments_from_files and
infer_comment_context_from_filename, and lib/file_in_context.rb): from a file's name, it reads the
first two numbers between underscores, or what follows `anon`. They must identify a student and a
file that this student handed in. The rest of the name, including the extension, does not matter.
All members of a group get the comment. The attachment appears under the name of the *student's*
file, whatever its name in the zip: a page would appear as `main.py`. So names stay unchanged, and
each student gets what fits the name of their file: Python comments, or a zip with the page.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tensormark.classroom.earlier import Earlier
from tensormark.classroom.entry import Entry, number_of
from tensormark.classroom.failure import FileError
from tensormark.classroom.reports.canvas import listed
from tensormark.classroom.reports.feedback import PAGE, RESULT
from tensormark.classroom.reports.moodle import Worksheet, feedback_name
from tensormark.classroom.students.bulk_names import (
    anonymous_reading,
    canvas_readings,
    moodle_readings,
)
from tensormark.classroom.summary import problem_of
from tensormark.files import encoded, replaced
from tensormark.reports.platforms import comments
from tensormark.reports.text import visible
from tensormark.zipped import write_zip, zipped

WORKSHEET, MOODLE_ZIP, CANVAS_ZIP = "moodle.csv", "moodle-feedback.zip", "canvas-feedback.zip"
RETURNED = (WORKSHEET, MOODLE_ZIP, CANVAS_ZIP)
PYTHON, ZIP = ".py", ".zip"

Pairs = Sequence[tuple[Entry, str]]  # entries, with the folders of their feedback


def _canvas_owner(name: str) -> str:
    """Return the student whose file Canvas takes this for, by its name; "" if nobody's."""
    parts = [part for part in name.split("_") if part != "LATE"]
    if parts[-1].startswith("link") or name.startswith("._"):
        return ""
    ids = [part for part in parts if part.isascii() and part.isdecimal()]
    if parts[0] == "anon":
        return f"anon_{parts[1]}" if parts[2:3] and parts[2] in ids else ""
    return ids[0] if len(ids) > 1 else ""


def _canvas_refusal(name: str, readings: Iterable[str]) -> str:
    """Return why a file cannot go back to Canvas under its name, "" if it can."""
    if {_canvas_owner(name)} != set(readings):
        return "Canvas would not read the name as that student's alone"
    if not name.isprintable() or set(name) & set('\\/:*?"<>|') or name.startswith("."):
        return "the name is not safe in a zip"
    if not name.lower().endswith((PYTHON, ZIP)):
        return f"not a {PYTHON} or {ZIP} file, and Canvas would show the report under that name"
    return ""


def _for_canvas(pairs: Pairs) -> tuple[dict[str, str], list[str]]:
    """Return the folders of feedback by the names that Canvas gave, and who gets none, and why."""
    folders: dict[str, str] = {}
    skipped: list[str] = []
    for path, entry, folder in ((e.hand_in.path, e, folder) for e, folder in pairs):
        name = path.name if path else ""
        nameless = anonymous_reading(name)
        readings = [nameless] if nameless else canvas_readings(name)
        if moodle_readings(name) or not readings or name in folders:
            continue
        if reason := _canvas_refusal(name, [reading.student for reading in readings]):
            skipped.append(f"{visible(entry.hand_in.called, 200)}: {visible(name, 200)}: {reason}")
        else:
            folders[name] = folder
    return folders, skipped


def _canvas_file(folder: Path, name: str) -> bytes:
    if name.lower().endswith(ZIP):
        return zipped({PAGE: (folder / PAGE).read_bytes()})
    result = json.loads((folder / RESULT).read_bytes())
    return encoded(comments(result))


def _write(earlier: Earlier, name: str, files: Iterator[tuple[str, bytes]]) -> None:
    earlier.make_room(name)
    with replaced(earlier.out / name) as file:
        write_zip(file, files)
        file.seek(0)
        earlier.note(name, hashlib.file_digest(file, "sha256").hexdigest())


def _to_canvas(pairs: Pairs, earlier: Earlier) -> list[str]:
    folders, skipped = _for_canvas(pairs)
    if not folders:
        earlier.withdraw(CANVAS_ZIP)
        return listed("Canvas", "whose feedback cannot be uploaded in bulk", skipped)
    out = earlier.out
    files = ((name, _canvas_file(out / folder, name)) for name, folder in folders.items())
    _write(earlier, CANVAS_ZIP, files)
    return [
        f"Canvas: wrote {out / CANVAS_ZIP}, {number_of(len(folders), 'file')} of feedback",
        *listed("Canvas", "whose feedback is not in the zip", skipped),
    ]


def _moodle_feedback(pairs: Pairs, earlier: Earlier) -> list[str]:
    names = {feedback_name(entry, PAGE): folder for entry, folder in pairs if entry.hand_in.known}
    names.pop("", None)
    if not names:
        earlier.withdraw(MOODLE_ZIP)
        return []
    out = earlier.out
    pages = ((name, (out / folder / PAGE).read_bytes()) for name, folder in names.items())
    _write(earlier, MOODLE_ZIP, pages)
    return [f"Moodle: wrote {out / MOODLE_ZIP}, {number_of(len(names), 'file')} of feedback"]


def _filled_worksheet(sheet: Worksheet, entries: Sequence[Entry], earlier: Earlier) -> list[str]:
    """Fill in Moodle's worksheet and report on it; remove an old one if that is impossible."""
    out = earlier.out / WORKSHEET
    if out.exists() and out.samefile(sheet.path):
        return [f"Moodle: {out} would overwrite the roster itself; copy that elsewhere first"]
    most = next((entry.most for entry in entries if entry.result), None)
    try:
        sheet.check(most)
    except FileError as error:
        earlier.withdraw(WORKSHEET)
        return [f"Moodle: nothing was filled in: {error}"]
    filled = sheet.fill(entries)
    earlier.write(WORKSHEET, filled.content)
    strangers = [visible(entry.hand_in.called, 200) for entry in entries if not entry.hand_in.known]
    return [
        f"Moodle: wrote {out}, grades: {filled.count}; upload it before any feedback",
        *listed("Moodle", "with a different grade, which this file replaces", filled.replaced),
        *listed("Moodle", "without a new grade", filled.left),
        *listed("Moodle", "handed in, but not in the worksheet", strangers),
    ]


def _without_report(pairs: Pairs) -> list[str]:
    """List who gets a mark, which staff may set for anybody, but no report to go with it."""
    lines = [
        f"{visible(entry.hand_in.called, 200)}: {visible(problem_of(entry), 200)}"
        for entry, folder in pairs
        if entry.mark is not None and not folder
    ]
    return listed("feedback", "with a score but no report, as nothing was graded", lines)


def returned(
    entries: Sequence[Entry], folders: Sequence[str], roster: Path | None, earlier: Earlier
) -> list[str]:
    """Write what goes back to platforms; return lines for the instructor.

    Args:
        folders: of each entry's feedback, relative to the results; "" where there is none.
        roster: the class list, which may be Moodle's worksheet.

    Raises:
        OSError: a file cannot be written.
    """
    whole = list(zip(entries, folders, strict=True))
    pairs = [(entry, folder) for entry, folder in whole if folder and entry.mark is not None]
    lines = [*_without_report(whole), *_to_canvas(pairs, earlier)]
    try:
        sheet = Worksheet(roster) if roster else None
    except (FileError, OSError) as error:
        return [*lines, f"Moodle: nothing was filled in: {error}"]
    if sheet is None or not sheet.is_one:
        for name in (WORKSHEET, MOODLE_ZIP):
            earlier.withdraw(name)
        return lines
    lines += _filled_worksheet(sheet, entries, earlier)
    return lines + _moodle_feedback(pairs, earlier)
