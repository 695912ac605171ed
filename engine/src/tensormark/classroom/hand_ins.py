"""Who handed in what: everything in a folder is given to a student, and one hand-in is chosen.

Nobody is left out: whatever is found becomes a hand-in or stands in one's `others`, and a student
of the roster who handed in nothing has a hand-in without a path.
"""

import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tensormark.classroom.choice import (
    BEFORE,
    CHOICES,
    NEWEST,
    at_once,
    attempts_of,
    chosen,
    minutes_late,
    order,
    split,
)
from tensormark.classroom.entry import HandIn
from tensormark.classroom.file_names import found_in
from tensormark.classroom.found import Found
from tensormark.classroom.owners import Student, by_name, by_roster
from tensormark.classroom.roster import Listed, RosterError, read_roster
from tensormark.intake.submission import Part
from tensormark.intake.syntax import shown
from tensormark.usage import command, option


class HandInError(Exception):
    """Hand-ins that cannot be read; the message is one sentence that says what to do."""


def _roster_file(one: Listed, folder: Path) -> Path | None:
    """Return the file that the roster names for a student, if it does."""
    if not one.file:
        return None
    parts = Path(one.file).parts
    if Path(one.file).is_absolute() or ".." in parts:
        raise HandInError(f"{one.file}: named in the roster, but is not in {folder}; move it there")
    path = folder
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise HandInError(f"{one.file}: named in the roster, but is a link; put the file there")
    return path


def _by_roster(found: Sequence[Found], roster: Sequence[Listed], folder: Path) -> list[Student]:
    """Give what was found to the students of a roster: what it says itself, else by their names."""
    files = [_roster_file(one, folder) for one in roster]
    named = {path for path in files if path}
    within = {parent for path in named for parent in (path, *path.parents)}
    students = by_roster([one for one in found if one.path not in within], roster)
    for student, one, path in zip(students, roster, files, strict=False):
        if path:
            own = Found(one.student, one.name, path, file=path.name, attempt="~")
            student.found.insert(0, own)
        when = one.submitted
        student.found = [replace(f, submitted=f.submitted or when) for f in student.found]
    nobody = {one.student for one in roster if one.is_test_student}
    return [one for one in students if one.found or one.student not in nobody]


def _fault(path: Path) -> str | None:
    if path.is_symlink():
        return f"{shown(path.name)} is a link, which is not followed; hand in the file itself"
    return None if path.exists() else f"{shown(path.name)} is missing in the folder"


def _hand_in(
    student: Student,
    folder: Path,
    editable: Sequence[str],
    deadline: datetime.datetime | None,
    late: str,
) -> HandIn:
    faults = {one.path: student.fault or _fault(one.path) for one in student.found}
    sound = [one for one in student.found if faults[one.path] is None]
    told = [fault for fault in faults.values() if fault]
    notes = [*student.notes, *(told if sound else ())]
    attempts = attempts_of(sound)
    read = at_once(chosen(attempts, deadline, late), editable) if attempts else []
    main, beside = split(read, editable) if read else (None, [])
    if main and main.late and minutes_late(main.submitted, deadline) is None:
        notes.append("late, as its name says, but not by how much")
    if len(attempts) > 1 and not all(one.submitted for one in sound):
        notes.append("which of several is newest was told from the dates of the files")
    left = [one for one in student.found if one is not main and one not in beside]
    return HandIn(
        student=student.student,
        name=student.name,
        path=main.path if main else None,
        submitted=main.submitted if main else None,
        minutes_late=minutes_late(main.submitted, deadline) if main else None,
        others=tuple(one.path for one in sorted(left, key=order)),
        keys=student.keys,
        notes=tuple(notes),
        fault="" if sound else "; ".join(dict.fromkeys(told)),
        known=student.known,
        parts=tuple(Part.under(folder, one.path, one.file or one.path.name) for one in read),
    )


def _students(
    folder: Path, main_file: str, roster: Path | None, own: Sequence[Path]
) -> list[Student]:
    """Return every student, with all that they handed in.

    Args:
        main_file: that every submission has.
        own: files that are the instructor's.
    """
    if (folder / main_file).is_file():
        one = f"holds {main_file} itself, so it is one submission and not a folder of them"
        raise HandInError(f"{folder}: {one}; use {command('grade')}, or name the folder around it")
    found = found_in(folder, [*own, *([roster] if roster else [])])
    made = _by_roster(found, read_roster(roster), folder) if roster else by_name(found)
    if not made:
        raise HandInError(f"{folder}: is empty; unpack the hand-ins into it")
    return made


def find(
    folder: Path,
    editable: Sequence[str],
    roster: Path | None = None,
    deadline: datetime.datetime | None = None,
    late: str = NEWEST,
    own: Sequence[Path] = (),
) -> list[HandIn]:
    """Return what everybody handed in, each student once.

    Args:
        folder: an unpacked bulk download of Canvas, Moodle, Gradescope or Blackboard, or any files
            and folders that are called after students.
        editable: the files that students edit.
        roster: a CSV file, such as a platform's own list of the class; its students come first.
        deadline: a time without a zone is this machine's.
        late: which of several is graded, one of CHOICES.
        own: files that are the instructor's besides the roster, wherever they are.

    Raises:
        HandInError: there is nothing to grade, or the options are wrong.
    """
    if late not in CHOICES:
        raise HandInError(f"{option('late', late)}: must be one of {', '.join(CHOICES)}")
    if late == BEFORE and deadline is None:
        given, lacking = option("late", late), option("deadline")
        raise HandInError(f"{given} needs a deadline; give {lacking} as well")
    try:
        students = _students(folder, editable[0], roster, own)
        return [_hand_in(student, folder, editable, deadline, late) for student in students]
    except RosterError as error:
        raise HandInError(str(error)) from error
    except OSError as error:
        where = error.filename or folder
        raise HandInError(f"{where}: cannot be read ({error.strerror or error})") from error
