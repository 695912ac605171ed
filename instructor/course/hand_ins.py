"""Who handed in what: everything in a folder is given to a student, and one hand-in is chosen.

Nobody is left out: whatever is found becomes a hand-in or stands in one's `others`, and a student
of the roster who handed in nothing has a hand-in without a path.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.intake.submission import Part
from grader.intake.syntax import shown
from instructor.course.choice import (
    BEFORE,
    CHOICES,
    EDITABLE,
    NEWEST,
    at_once,
    attempts_of,
    chosen,
    minutes_late,
    order,
    split,
)
from instructor.course.entry import HandIn
from instructor.course.file_names import Found, found_in, real
from instructor.course.people import Person, matches
from instructor.course.roster import Listed, RosterError, read_roster


class HandInError(Exception):
    """Hand-ins that cannot be read; the message is one sentence that says what to do."""


@dataclass
class Student:
    """Somebody, and everything that they handed in; see HandIn."""

    student: str
    name: str
    keys: tuple[str, ...]
    found: list[Found] = field(default_factory=list)
    notes: tuple[str, ...] = ()


def by_name(found: Sequence[Found]) -> list[Student]:
    """Return what was found, by student, in order."""
    made: dict[str, Student] = {}
    for one in found:
        made.setdefault(one.student, Student(one.student, one.name, one.keys)).found.append(one)
    return list(made.values())


def named_file(one: Listed, folder: Path) -> Path | None:
    """Return the file that the roster names for a student, if it does.

    Raises:
        HandInError: it is not in the folder.
    """
    if not one.file:
        return None
    path = folder / one.file
    if not real(path).is_relative_to(real(folder)):
        raise HandInError(f"{one.file}: named in the roster, but is not in {folder}; move it there")
    return path


def by_roster(found: Sequence[Found], roster: Sequence[Listed], folder: Path) -> list[Student]:
    """Give what was found to the students of a roster, in its order; the rest comes last."""
    made = [Student(one.student, one.name, one.keys) for one in roster]
    taken = set()
    for student, one in zip(made, roster, strict=True):
        if path := named_file(one, folder):
            taken.add(path)
            student.found.append(Found(path, one.student, one.name, file=path.name, attempt="~"))
    others = by_name([one for one in found if one.path not in taken])
    people = [Person((one.student, *one.keys), (one.name, one.student)) for one in others]
    owners = matches(people, [one.person for one in roster])
    for other, owner in zip(others, owners, strict=True):
        if owner is None:
            made.append(replace(other, notes=("not on the roster",)))
        else:
            made[owner].found += other.found
    for student, one in zip(made, roster, strict=False):
        when = one.submitted
        student.found = [replace(f, submitted=f.submitted or when) for f in student.found]
    return made


def fault_of(path: Path) -> str | None:
    """Say what keeps a file from being read: it is a link, or missing."""
    if path.is_symlink():
        return f"{shown(path.name)} is a link, which is not followed; hand in the file itself"
    return None if path.exists() else f"{shown(path.name)} is missing in the folder"


def hand_in(
    student: Student, folder: Path, deadline: datetime.datetime | None, late: str
) -> HandIn:
    """Return what a student handed in."""
    faults = {one.path: fault_of(one.path) for one in student.found}
    sound = [one for one in student.found if faults[one.path] is None]
    told = [fault for fault in faults.values() if fault]
    notes = [*student.notes, *(told if sound else ())]
    attempts = attempts_of(sound)
    read = at_once(chosen(attempts, deadline, late)) if attempts else []
    main, beside = split(read) if read else (None, [])
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
        fault="" if sound else "; ".join(told),
        parts=tuple(Part.under(folder, one.path, one.file or one.path.name) for one in read),
    )


def read(folder: Path, roster: Path | None, own: Sequence[Path]) -> list[Student]:
    """Return every student, with all that they handed in.

    Args:
        own: files that are the instructor's.

    Raises:
        HandInError: the folder or the roster cannot be used.
    """
    if folder.is_file():
        raise HandInError(f"{folder}: a file, not a folder; unpack it, and name the folder")
    if not folder.is_dir():
        raise HandInError(f"{folder}: there is no such folder")
    if (folder / EDITABLE[0]).is_file():
        one = f"holds {EDITABLE[0]} itself, so it is one submission and not a folder of them"
        raise HandInError(f"{folder}: {one}; use make grade, or name the folder around it")
    found = found_in(folder, [*own, *([roster] if roster else [])])
    made = by_roster(found, read_roster(roster), folder) if roster else by_name(found)
    if not made:
        raise HandInError(f"{folder}: is empty; unpack the hand-ins into it")
    return made


def find(
    folder: Path,
    roster: Path | None = None,
    deadline: datetime.datetime | None = None,
    late: str = NEWEST,
    own: Sequence[Path] = (),
) -> list[HandIn]:
    """Return what everybody handed in, each student once.

    Args:
        folder: an unpacked bulk download of Canvas, Moodle, Gradescope or Blackboard, or any files
            and folders that are called after students.
        roster: a CSV file; its students come first, in its order.
        deadline: a time without a zone is this machine's.
        late: which of several is graded, one of CHOICES.
        own: files that are the instructor's besides the roster, wherever they are.

    Raises:
        HandInError: there is nothing to grade, or the options are wrong.
    """
    if late not in CHOICES:
        raise HandInError(f"LATE={late}: must be one of {', '.join(CHOICES)}")
    if late == BEFORE and deadline is None:
        raise HandInError("LATE=before needs a deadline; give DEADLINE= as well")
    try:
        students = read(folder, roster, own)
        return [hand_in(student, folder, deadline, late) for student in students]
    except RosterError as error:
        raise HandInError(str(error)) from error
    except OSError as error:
        where = error.filename or folder
        raise HandInError(f"{where}: cannot be read ({error.strerror or error})") from error
