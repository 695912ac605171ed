"""Who handed in what: assign everything in a folder to students, and choose each one's hand-in.

Nothing and nobody is left out: every file becomes part of a hand-in or one of its `others`, and a
student on the roster who handed in nothing has a hand-in without a path.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from tensormark.classroom.entry import HandIn
from tensormark.classroom.failure import FileError
from tensormark.classroom.students import choice
from tensormark.classroom.students.file_names import uploads_in
from tensormark.classroom.students.owners import Student, by_name, by_roster
from tensormark.classroom.students.roster import Listed, read_roster
from tensormark.classroom.students.upload import Upload
from tensormark.intake.submission import Part
from tensormark.intake.syntax import shown
from tensormark.usage import command, option

MARKED_LATE = "late according to its name, which does not say by how much"
UNREAD = "Moodle's worksheet gives an unreadable time of submission: "


def _roster_file(student: Listed, folder: Path) -> Path | None:
    """Return the file that the roster names for a student, if any."""
    if not student.file:
        return None
    parts = Path(student.file).parts
    if Path(student.file).is_absolute() or ".." in parts:
        raise FileError(
            f"{student.file}: is named in the roster, but is not in {folder}; move it there"
        )
    path = folder
    for part in parts:
        path = path / part
        if path.is_symlink():
            raise FileError(
                f"{student.file}: is named in the roster, but is a link; replace it with the file"
            )
    return path


def _by_roster(uploads: Sequence[Upload], roster: Sequence[Listed], folder: Path) -> list[Student]:
    """Assign uploads to the students of a roster: by the files that it lists, else by name."""
    files = [_roster_file(member, folder) for member in roster]
    paths = {path for path in files if path}
    folders = {parent for path in paths for parent in (path, *path.parents)}
    students = by_roster([upload for upload in uploads if upload.path not in folders], roster)
    for student, member, path in zip(students, roster, files, strict=False):
        if path:
            upload = Upload(member.student, member.name, path, file=path.name, attempt="~")
            student.uploads.insert(0, upload)
        submitted = member.submitted
        student.uploads = [
            replace(upload, submitted=upload.submitted or submitted) for upload in student.uploads
        ]
        if member.unread and student.uploads:
            student.notes += (f"{UNREAD}{shown(member.unread)}",)
    test_students = {member.student for member in roster if member.is_test_student}
    return [
        student for student in students if student.uploads or student.student not in test_students
    ]


def _fault(path: Path) -> str | None:
    if path.is_symlink():
        return f"{shown(path.name)} is a link, which is not followed; hand in the file itself"
    return None if path.exists() else f"{shown(path.name)} is missing from the folder"


def _hand_in(
    student: Student,
    folder: Path,
    editable: Sequence[str],
    deadline: datetime.datetime | None,
    late: str,
) -> HandIn:
    faults = {upload.path: student.fault or _fault(upload.path) for upload in student.uploads}
    gradable = [upload for upload in student.uploads if faults[upload.path] is None]
    messages = [fault for fault in faults.values() if fault]
    notes = [*student.notes, *(messages if gradable else ())]
    attempts = choice.attempts_of(gradable)
    files: list[Upload] = []
    main, extras = None, files
    if attempts:
        files = choice.files_of(choice.graded_attempt(attempts, deadline, late), editable)
        main, extras = choice.split(files, editable)
    if main and main.late and choice.minutes_late(main.submitted, deadline) is None:
        notes.append(MARKED_LATE)
    if len(attempts) > 1 and not all(upload.submitted for upload in gradable):
        notes.append("the newest of several was chosen by the dates of the files")
    others = [upload for upload in student.uploads if upload is not main and upload not in extras]
    return HandIn(
        student=student.student,
        name=student.name,
        path=main.path if main else None,
        submitted=main.submitted if main else None,
        minutes_late=choice.minutes_late(main.submitted, deadline) if main else None,
        others=tuple(upload.path for upload in sorted(others, key=choice.order)),
        keys=student.keys,
        notes=tuple(notes),
        fault="" if gradable else "; ".join(dict.fromkeys(messages)),
        known=student.known,
        parts=tuple(
            Part.under(folder, upload.path, upload.file or upload.path.name) for upload in files
        ),
    )


def _students(
    folder: Path, main_file: str, roster: Path | None, own: Sequence[Path]
) -> list[Student]:
    if (folder / main_file).is_file():
        reason = (
            f"contains {main_file} itself, so it is one submission, not a folder of submissions"
        )
        raise FileError(f"{folder}: {reason}; use {command('grade')}, or give its parent folder")
    uploads = uploads_in(folder, [*own, *([roster] if roster else [])])
    students = _by_roster(uploads, read_roster(roster), folder) if roster else by_name(uploads)
    if not students:
        raise FileError(f"{folder}: is empty; unpack the hand-ins into it")
    return students


def find(
    folder: Path,
    editable: Sequence[str],
    roster: Path | None = None,
    deadline: datetime.datetime | None = None,
    late: str = choice.NEWEST,
    own: Sequence[Path] = (),
    deadlines: Mapping[str, datetime.datetime] = MappingProxyType({}),
) -> list[HandIn]:
    """Return a hand-in for each student.

    Args:
        folder: an unpacked bulk download of Canvas, Moodle, Gradescope or Blackboard, or any files
            and folders that are named after students.
        editable: the files that students edit.
        roster: a CSV file, such as a platform's own list of the class; its students come first.
        deadline: by default in this machine's time zone.
        late: which of several hand-ins is graded, one of CHOICES.
        own: the instructor's files other than the roster, wherever they are.
        deadlines: those of students who have their own.

    Raises:
        FileError: there is nothing to grade, or an option is invalid.
    """
    if late not in choice.CHOICES:
        raise FileError(f"{option('late', late)}: must be one of {', '.join(choice.CHOICES)}")
    if late == choice.BEFORE and deadline is None:
        given, missing = option("late", late), option("deadline")
        raise FileError(f"{given} needs a deadline; give {missing} as well")
    try:
        students = _students(folder, editable[0], roster, own)
        return [
            _hand_in(student, folder, editable, deadlines.get(student.student, deadline), late)
            for student in students
        ]
    except OSError as error:
        where = error.filename or folder
        raise FileError(f"{where}: cannot be read ({error.strerror or error})") from error
