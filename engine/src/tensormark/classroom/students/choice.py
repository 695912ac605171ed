"""Which of a student's several hand-ins is graded, and how late it is."""

import contextlib
import datetime
import itertools
from collections.abc import Sequence

from tensormark.classroom.students.upload import Upload
from tensormark.files import is_folder
from tensormark.intake.file_names import is_archive, target_of

NEWEST, BEFORE = "newest", "before"
CHOICES = {
    NEWEST: "the newest, however late",
    BEFORE: "the newest before the deadline; if all are late, the first of them",
}
DOCUMENTS = (
    *(".pdf", ".docx", ".doc", ".odt", ".rtf", ".pages", ".txt", ".md", ".html", ".htm"),
    *(".png", ".jpg", ".jpeg", ".7z", ".rar"),
)


def deadline_of(text: str) -> datetime.datetime:
    """Parse a date and time, by default in this machine's time zone, or a date, meaning its end.

    Raises:
        ValueError, OverflowError, OSError: it is neither.
    """
    time = datetime.datetime.fromisoformat(text)
    with contextlib.suppress(ValueError):
        time = datetime.datetime.combine(datetime.date.fromisoformat(text), datetime.time.max)
    return time.astimezone()


def minutes_late(
    submitted: datetime.datetime | None, deadline: datetime.datetime | None
) -> int | None:
    """Return the minutes by which something is late, rounded up; None if that is unknown."""
    if submitted is None or deadline is None:
        return None
    seconds = (submitted.astimezone() - deadline.astimezone()).total_seconds()
    return max(0, -int(-seconds // 60))


def _is_late(upload: Upload, deadline: datetime.datetime | None) -> bool:
    """Say whether something is late: by its time, else by the platform's mark."""
    minutes = minutes_late(upload.submitted, deadline)
    return upload.late if minutes is None else minutes > 0


def order(upload: Upload) -> tuple[float, str, int, str]:
    """Return a sort key for uploads, the newest last."""
    when = upload.submitted.timestamp() if upload.submitted else float("-inf")
    return when, upload.attempt, upload.again, upload.path.name


def attempts_of(uploads: Sequence[Upload]) -> list[list[Upload]]:
    """Group uploads by attempt, that is those handed in at the same time, the newest last."""
    ordered = sorted(uploads, key=order)
    groups = itertools.groupby(ordered, key=lambda upload: (upload.submitted, upload.attempt))
    return [list(group) for _, group in groups]


def _is_not_code(upload: Upload) -> bool:
    """Say whether something is certainly not code: a document, or text typed into a form."""
    return upload.typed or (
        upload.path.name.lower().endswith(DOCUMENTS) and not is_folder(upload.path)
    )


def graded_attempt(
    attempts: Sequence[list[Upload]], deadline: datetime.datetime | None, late: str
) -> list[Upload]:
    """Return the attempt that is graded; see CHOICES. A document never replaces code."""
    attempts = [attempt for attempt in attempts if not all(map(_is_not_code, attempt))] or attempts
    in_time = [attempt for attempt in attempts if not _is_late(attempt[0], deadline)]
    if late == BEFORE:
        return in_time[-1] if in_time else attempts[0]
    return attempts[-1]


def _editable_file(upload: Upload, editable: Sequence[str]) -> str | None:
    return target_of(upload.file or upload.path.name, editable) if upload.path.is_file() else None


def files_of(attempt: Sequence[Upload], editable: Sequence[str]) -> list[Upload]:
    """Return the uploads of an attempt to read: no text typed beside files, and no old versions."""
    files = [upload for upload in attempt if not upload.typed] or list(attempt)
    names = [_editable_file(upload, editable) for upload in files]
    newest: dict[str | None, int] = {}
    for upload, name in zip(files, names, strict=True):
        newest[name] = max(upload.again, newest.get(name, 0))
    pairs = zip(files, names, strict=True)
    return [upload for upload, name in pairs if not name or upload.again == newest[name]]


def split(attempt: Sequence[Upload], editable: Sequence[str]) -> tuple[Upload, list[Upload]]:
    """Return the main file of an attempt, and the others that go with it.

    The main file is the first of the files that students edit, with the rest of them; else an
    archive or a folder, else any Python file. It is shown to people; the intake decides what is
    graded.
    """
    files: dict[str, Upload] = {}
    for upload in sorted(attempt, key=order):
        if name := _editable_file(upload, editable):
            files[name] = upload
    if main := files.pop(editable[0], None):
        return main, list(files.values())

    def rank(upload: Upload) -> int:
        if _is_not_code(upload):
            return -2 if upload.typed else -1
        if is_folder(upload.path) or is_archive(upload.path.name):
            return 3
        python = upload.path.name.lower().endswith(".py")
        return 0 if not python else 1 if upload in files.values() else 2

    main = max(attempt, key=lambda upload: (rank(upload), order(upload)))
    return main, list(files.values()) if rank(main) == 2 else []
