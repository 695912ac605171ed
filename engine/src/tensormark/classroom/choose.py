"""Which of a student's uploads are graded: what staff chose, or the newest."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from tensormark.characters import shown
from tensormark.classroom.entry import Entry
from tensormark.classroom.owners import BY_STAFF
from tensormark.classroom.platforms.base import DOCUMENTS
from tensormark.classroom.upload import Upload
from tensormark.files import is_folder
from tensormark.intake.file_names import is_archive, target_of
from tensormark.intake.submission import Part

NO_FILE = "no file was handed in, only a text or note that the platform keeps"
CHOSEN_BY_DATE = "of several, the newest by file date was chosen"
# what is noted where an old version may be graded, by the intake, too
VERSIONS = re.compile(
    rf"{CHOSEN_BY_DATE}|.* is (?:graded, not|not opened, as|not graded: .* and they differ).*", re.S
)


def _target(upload: Upload, editable: Sequence[str]) -> str | None:
    """Return the editable file that an upload stands for, if it is a file and stands for one."""
    name = upload.file or upload.path.name
    return target_of(name, editable) if upload.path.is_file() else None


def _is_code(upload: Upload) -> bool:
    """Return whether something may be code: it is no document, or text typed into a form."""
    document = upload.path.name.lower().endswith(DOCUMENTS) and not is_folder(upload.path)
    return not upload.typed and not document


def _graded(uploads: Sequence[Upload], editable: Sequence[str]) -> list[Upload]:
    """Return the newest attempt without old versions of its files; no document replaces code."""
    code = [upload for upload in uploads if _is_code(upload)] or uploads
    last = max(code, key=lambda upload: upload.order)
    own = [each for each in uploads if last.typed or not each.typed]
    attempt = [each for each in own if each.together == last.together]
    newest: dict[str | None, int] = {}
    for upload in attempt:
        file = _target(upload, editable)
        if file is not None:
            newest[file] = max(upload.again, newest.get(file, 0))
    return [
        upload
        for upload in attempt
        if upload.again == newest.get(_target(upload, editable), upload.again)
    ]


def _fault(path: Path, folder: Path) -> str:
    if os.path.islink(path):
        return f"{shown(path.name)} is a link, which is not followed; hand in the file itself"
    if os.path.exists(path):
        return ""
    there = f"; there is {shown(path.name)}" if (folder / path.name).exists() else ""
    return f"{shown(os.path.relpath(path, folder))} is missing from the folder{there}"


def choose(entry: Entry, folder: Path, editable: Sequence[str]) -> None:
    """Decide which of a student's uploads are graded: what staff chose, or the newest."""

    def rank(upload: Upload) -> tuple[object, ...]:
        packed = is_folder(upload.path) or is_archive(upload.path.name)
        return _target(upload, editable) == editable[0], packed, upload.order

    uploads = [each for each in entry.uploads if each.attempt == BY_STAFF] or entry.uploads
    faults = {upload.path: entry.problem or _fault(upload.path, folder) for upload in uploads}
    messages = list(dict.fromkeys(filter(None, faults.values())))
    gradable = [upload for upload in uploads if not faults[upload.path]]
    files = _graded(gradable, editable) if gradable else []
    entry.others = [upload.path for upload in entry.uploads if upload not in files]
    if not files:
        entry.problem = "; ".join(messages)
        return
    main = max(files, key=rank)  # to show people; the intake decides what is graded
    entry.path = main.path
    entry.parts = [Part.under(folder, each.path, each.file) for each in files]
    entry.submitted = main.submitted
    said = [upload.late for upload in files if upload.late is not None]
    entry.late = any(said) if said else None
    entry.remarks += messages
    several = len({upload.together for upload in gradable}) > 1
    dated = all(upload.submitted for upload in gradable)
    if several and not dated:
        entry.remarks.append(CHOSEN_BY_DATE)
    if all(upload.typed for upload in files):
        entry.problem = NO_FILE
