"""What is in a folder of hand-ins, and who may have handed it in, judging by names and lists.

Students choose part of the names. Names are only ever compared and shown; no path is built from
them, and no link in the folder is followed.
"""

import itertools
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from tensormark.classroom.entry import legible
from tensormark.classroom.students.blackboard import by_blackboard, named_by_blackboard
from tensormark.classroom.students.bulk_names import (
    anonymous_reading,
    canvas_readings,
    moodle_readings,
)
from tensormark.classroom.students.choice import DOCUMENTS
from tensormark.classroom.students.gradescope_export import METADATA, by_gradescope, read_metadata
from tensormark.classroom.students.upload import Upload
from tensormark.files import is_folder, is_regular
from tensormark.intake.file_names import ARCHIVES

# what systems and editors leave behind; any other name, even a hidden one, may be a student's
IGNORED = {
    *("__MACOSX", "Thumbs.db", "desktop.ini", ".DS_Store", ".localized", ".directory"),
    *(".Spotlight-V100", ".Trashes", ".fseventsd", ".git", ".gitignore", ".gitattributes"),
    *(".gitkeep", ".hg", ".svn", ".idea", ".vscode", ".venv", ".ipynb_checkpoints"),
    *(".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"),
}
# the folder in Gradescope's zip; any other single folder may be a student's, whatever is in it
EXPORT = re.compile(r"assignment_[0-9]+_export")
COMPANION = "._"  # begins the name of the metadata that macOS keeps beside a file or folder
IGNORED_BEGINNINGS = (".~lock.", ".nfs", ".fuse_hidden", ".Trash-")
ENDINGS = (".tar.gz", ".tar.xz", ".tar.bz2", ".tbz2", ".py", ".ipynb", *ARCHIVES, *DOCUMENTS)


def real(path: Path) -> Path:
    """Return a path with its links resolved as far as possible: they may be circular."""
    return Path(os.path.realpath(path))


def _entries(folder: Path) -> list[Path]:
    """Return what is in a folder, sorted, without what systems put there."""
    paths = {path.name: path for path in folder.iterdir()}
    return sorted(
        path
        for name, path in paths.items()
        if name not in IGNORED
        and not name.startswith(IGNORED_BEGINNINGS)
        and not (
            name.startswith(COMPANION)
            and (name.removeprefix(COMPANION) in paths or not moodle_readings(name))
        )
    )


def _without_ending(name: str) -> str:
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    return name[: -len(ending)] if ending and len(name) > len(ending) else name


def _own_name(path: Path) -> Upload:
    """Read a name that the student chose; the file's date says which of several is newest."""
    name = path.name if is_folder(path) else _without_ending(path.name)
    stamp = f"{path.lstat().st_mtime_ns:020}"
    return Upload(student=name, name=name, path=path, file=path.name, attempt=stamp)


def _merged(readings: Sequence[Upload], path: Path) -> Upload:
    """Return the readings of a name as one upload, with the alternatives as its `others`.

    If they differ only in whether it is late, it is late, so that nobody gains by choosing a name.
    """
    by_student: dict[tuple[str, str], Upload] = {}
    for reading in readings:
        best = by_student.setdefault(reading.identity, replace(reading, path=path))
        if reading.late and not best.late:
            by_student[reading.identity] = replace(best, late=True)
    first, *others = by_student.values()
    return replace(first, others=tuple(others))


def _by_platform(paths: Sequence[Path]) -> list[Upload]:
    """Read names by Canvas and Moodle, and those that students chose.

    Canvas grades a whole assignment anonymously or not at all.
    """
    canvas = {path: canvas_readings(path.name) for path in paths}
    anonymous = {path: anonymous_reading(path.name) for path in paths}
    all_anonymous = all(anonymous[path] for path in paths if canvas[path])
    uploads = []
    for path in paths:
        moodle, nameless = moodle_readings(path.name), anonymous[path]
        readings = [*canvas[path], *moodle]
        if nameless and not moodle and (all_anonymous or not canvas[path]):
            readings = [nameless]
        uploads.append(_merged(readings, path) if readings else _own_name(path))
    return uploads


def _printable(upload: Upload) -> Upload:
    return replace(
        upload,
        student=legible(upload.student),
        name=legible(upload.name),
        others=tuple(map(_printable, upload.others)),
    )


def uploads_in(folder: Path, without: Iterable[Path] = ()) -> list[Upload]:
    """Return everything that was handed in.

    Args:
        without: the instructor's files, such as a roster, which are left out.

    Raises:
        OSError: the folder cannot be read.
    """
    excluded, root = {real(path) for path in without}, real(folder)
    paths = [path for path in _entries(folder) if root / path.name not in excluded]
    if len(paths) == 1 and EXPORT.fullmatch(paths[0].name) and is_folder(paths[0]):
        folder, paths = paths[0], _entries(paths[0])
    metadata = folder / METADATA
    submissions = read_metadata(metadata) if is_regular(metadata) else []
    from_gradescope = by_gradescope(folder, submissions)
    others = {upload.path for upload in from_gradescope}
    others |= {metadata} if is_regular(metadata) else set()
    paths = [path for path in paths if path not in others]
    blackboards = named_by_blackboard(paths)
    rest = [path for path in paths if path not in blackboards]
    whole = itertools.chain(
        from_gradescope, by_blackboard(list(blackboards.items())), _by_platform(rest)
    )
    return [_printable(upload) for upload in whole]
