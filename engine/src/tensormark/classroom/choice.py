"""Which of several hand-ins of one student is graded, and how late it is."""

import datetime
import itertools
from collections.abc import Sequence

from tensormark.classroom.found import Found
from tensormark.files import is_folder
from tensormark.intake.file_names import is_archive, wanted

NEWEST, BEFORE = "newest", "before"
CHOICES = {
    NEWEST: "the newest, however late",
    BEFORE: "the newest before the deadline; if all are late, the first of them",
}
DOCUMENTS = (
    *(".pdf", ".docx", ".doc", ".odt", ".rtf", ".pages", ".txt", ".md", ".html", ".htm"),
    *(".png", ".jpg", ".jpeg", ".7z", ".rar"),
)


def minutes_late(
    submitted: datetime.datetime | None, deadline: datetime.datetime | None
) -> int | None:
    """Return how many minutes late something is, a begun one counted; None if that is not known."""
    if submitted is None or deadline is None:
        return None
    seconds = (submitted.astimezone() - deadline.astimezone()).total_seconds()
    return max(0, -int(-seconds // 60))


def _is_late(one: Found, deadline: datetime.datetime | None) -> bool:
    """Say whether something is late: by its time, else by what the system has marked."""
    minutes = minutes_late(one.submitted, deadline)
    return one.late if minutes is None else minutes > 0


def order(one: Found) -> tuple[float, str, int, str]:
    """Return what files are ordered by, the newest last."""
    when = one.submitted.timestamp() if one.submitted else float("-inf")
    return when, one.attempt, one.again, one.path.name


def attempts_of(found: Sequence[Found]) -> list[list[Found]]:
    """Return what was handed in at once, the newest last."""
    ordered = sorted(found, key=order)
    groups = itertools.groupby(ordered, key=lambda one: (one.submitted, one.attempt))
    return [list(group) for _, group in groups]


def _is_hopeless(one: Found) -> bool:
    """Say whether something is certainly no code: a document, or typed into a form."""
    return one.typed or (one.path.name.lower().endswith(DOCUMENTS) and not is_folder(one.path))


def chosen(
    attempts: Sequence[list[Found]], deadline: datetime.datetime | None, late: str
) -> list[Found]:
    """Return the attempt that is graded; see CHOICES. A document never takes the place of code."""
    attempts = [one for one in attempts if not all(map(_is_hopeless, one))] or attempts
    in_time = [one for one in attempts if not _is_late(one[0], deadline)]
    if late == BEFORE:
        return in_time[-1] if in_time else attempts[0]
    return attempts[-1]


def _editable_file(one: Found, editable: Sequence[str]) -> str | None:
    return wanted(one.file or one.path.name, editable) if one.path.is_file() else None


def at_once(attempt: Sequence[Found], editable: Sequence[str]) -> list[Found]:
    """Return what is read of an attempt: not what was typed beside files, nor old versions."""
    files = [one for one in attempt if not one.typed] or list(attempt)
    names = [_editable_file(one, editable) for one in files]
    newest: dict[str | None, int] = {}
    for one, name in zip(files, names, strict=True):
        newest[name] = max(one.again, newest.get(name, 0))
    pairs = zip(files, names, strict=True)
    return [one for one, name in pairs if not name or one.again == newest[name]]


def split(attempt: Sequence[Found], editable: Sequence[str]) -> tuple[Found, list[Found]]:
    """Return the main file of what was handed in at once, and the others that go with it.

    That is the first of the files that students edit, with the rest of them; else an archive or a
    folder, else any Python file. It is what people are shown: what is graded, the door decides.
    """
    files: dict[str, Found] = {}
    for one in sorted(attempt, key=order):
        if name := _editable_file(one, editable):
            files[name] = one
    if main := files.pop(editable[0], None):
        return main, list(files.values())

    def rank(one: Found) -> int:
        if _is_hopeless(one):
            return -2 if one.typed else -1
        if is_folder(one.path) or is_archive(one.path.name):
            return 3
        python = one.path.name.lower().endswith(".py")
        return 0 if not python else 1 if one in files.values() else 2

    main = max(attempt, key=lambda one: (rank(one), order(one)))
    return main, list(files.values()) if rank(main) == 2 else []
