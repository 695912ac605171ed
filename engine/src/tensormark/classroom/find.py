"""What is in a folder, whose platform's download it is, and who handed in what.

No path is built from a name, no link is followed, and no list is taken from where students write.
"""

import datetime
import os
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from tensormark.characters import first_of, listed
from tensormark.classroom.choose import VERSIONS, choose
from tensormark.classroom.entry import Entry, number_of
from tensormark.classroom.owners import Owners
from tensormark.classroom.people import CsvTable, FileError, read_table, unread
from tensormark.classroom.platforms import BY_NAME, FOLDER, PLATFORMS
from tensormark.classroom.platforms.base import Platform
from tensormark.files import is_folder
from tensormark.usage import command

# what systems, editors and office programs leave behind; any other name may be a student's
IGNORED = re.compile(
    r"__MACOSX|Thumbs\.db|desktop\.ini|\.DS_Store|\.localized|\.directory|Icon\r?"
    r"|\.Spotlight-V100|\.Trashes|\.fseventsd|\.git|\.gitignore|\.gitattributes|\.gitkeep|\.hg|\.svn"
    r"|\.idea|\.vscode|\.venv|\.ipynb_checkpoints|\.mypy_cache|\.pytest_cache|\.ruff_cache"
    r"|__pycache__|\.~lock\..*|~\$.*|\.nfs.*|\.fuse_hidden.*|\.Trash-.*|.*:Zone\.Identifier",
    re.S,
)
COMPANION = "._"  # begins the name of the metadata that macOS keeps beside a file or folder
SEVERAL = (
    "with several versions of a file, of which notes say what is graded; unzip a later download "
    "into an empty folder"
)


def real(path: Path) -> Path:
    """Return a path with its links resolved as far as possible: they may be circular."""
    return Path(os.path.realpath(path))


def handed_in(folder: Path, list_file: Path | None = None) -> list[Path]:
    """Return what was handed in: all in a folder but the list and what systems put there, sorted.

    Raises:
        FileError: the folder cannot be read.
    """
    try:
        paths = {path.name: path for path in folder.iterdir()}
    except OSError as error:
        raise FileError(f"{folder}: cannot be read ({error.strerror or error})") from error
    excluded = real(list_file) if list_file else None
    return sorted(
        path
        for name, path in paths.items()
        if not IGNORED.fullmatch(name)
        and not (name.startswith(COMPANION) and name.removeprefix(COMPANION) in paths)
        and real(folder) / name != excluded
    )


def read_list(path: Path) -> tuple[CsvTable, list[Entry], Platform]:
    """Read a class list: its table, its people, and the platform whose own it is.

    Raises:
        FileError: it cannot be used.
    """
    table = read_table(path)
    platform = next((each for each in PLATFORMS if each.is_list(table.titles)), FOLDER)
    return table, platform.people(table), platform


@dataclass(frozen=True)
class Found:
    """What was found in a folder.

    Attributes:
        table: the class list, if there is one.
        listed_by: the platform whose own list it is.
        given: what several students got by its column `file`, or another than a name says.
        doubts: what else staff should know about the whole.
    """

    platform: Platform
    entries: list[Entry]
    table: CsvTable | None = None
    listed_by: Platform = FOLDER
    given: Sequence[str] = ()
    doubts: Sequence[str] = ()

    @property
    def warnings(self) -> list[str]:
        """What staff should know about the whole."""
        found = [each for each in self.entries if each.path]
        unlisted = [each.label for each in found if each.row is None]
        if self.table is None or not unlisted:
            return []
        path = self.table.path
        titles = unread(self.table) if self.listed_by is FOLDER else []
        columns = f"; columns of it that identify nobody: {listed(titles)}" if titles else ""
        if len(unlisted) < len(found):
            return [f"not in {path} (see their notes): {first_of(unlisted)}{columns}"]
        example = f"{unlisted[0]!r}, for instance, is no id, login, e-mail or name in it"
        fix = f"use {self.platform.wanted}, or add a column `file`"
        return [f"none of the submissions matches {path}: {example}{columns}; {fix}"]


def find(
    folder: Path,
    editable: Sequence[str],
    list_file: Path | None = None,
    platform: str = "",
    given: Collection[str] = (),
    column: str = "",
) -> Found:
    """Return who handed in what.

    Args:
        folder: an unpacked bulk download, or any files and folders that are named after students.
        editable: the files that students edit.
        list_file: a class list; its students come first.
        platform: the name of the one that the folder is from; "" to judge by the names in it.
        given: the files that students get.
        column: the list's column of marks, as in class.toml.

    Raises:
        FileError: there is nothing to grade, or the list cannot be used.
    """
    paths = handed_in(folder, list_file)
    own = [path for path in paths if path.name in (*editable, *given) and path.is_file()]
    main = editable[0]
    if 2 * len(own) > len(paths) and main in (path.name for path in own):
        raise FileError(
            f"{folder}: contains {main} itself, so it is one submission, not a folder of "
            f"submissions; use {command('grade')}, or give its parent folder"
        )
    if not paths:
        raise FileError(f"{folder}: is empty; unpack the submissions into it")
    inner = handed_in(paths[0]) if len(paths) == 1 and is_folder(paths[0]) else []
    if inner and any(each.wrote(inner) for each in PLATFORMS):
        folder, paths = paths[0], inner  # a download that lies in a folder of its own
    table, people, listed_by = read_list(list_file) if list_file else (None, [], FOLDER)
    usual = listed_by if listed_by.known_by_list else FOLDER
    recognized = next((each for each in PLATFORMS if each.wrote(paths)), usual)
    chosen = BY_NAME.get(platform, recognized)
    match = listed_by.grades.fullmatch(column.casefold())
    owners = Owners(people, chosen, match["name"] if match else column)
    entries = owners.entries(chosen.uploads(paths), folder, main)
    for each in entries:
        choose(each, folder, editable)
    tests = (*chosen.test_students, *listed_by.test_students)
    entries = [each for each in entries if each.path or each.name.casefold() not in tests]
    return Found(chosen, entries, table, listed_by, owners.given, owners.doubts)


def note_status(found: Found) -> list[str]:
    """Note what the platform's list says of each submission; return the same for staff.

    And return who handed in several versions of a file, once everything is read.
    """
    noted = defaultdict[str, list[str]](list)
    for entry in found.entries:
        if entry.path:
            remark = found.listed_by.read_status(entry)
            if remark:
                entry.remarks.append(remark)
                noted[remark].append(entry.label)
        notes = entry.submission.notes if entry.submission else ()
        if any(map(VERSIONS.fullmatch, (*entry.remarks, *notes))):
            noted[SEVERAL].append(entry.label)
    return [
        f"{number_of(len(own), 'submission')} ({why}): {first_of(own)}"
        for why, own in noted.items()
    ]


def note_late(found: Found, deadline: datetime.datetime) -> list[str]:
    """Note who was late, where a platform only gives times; return why it does not, for staff.

    A time without an offset is in the deadline's.
    """
    unknown = [entry for entry in found.entries if entry.path and entry.late is None]
    if found.platform is FOLDER:
        said = ["deadline in class.toml: the times of the files say who was late"]
        for entry in unknown:
            assert entry.path
            time = entry.path.lstat().st_mtime
            entry.submitted = datetime.datetime.fromtimestamp(time, deadline.tzinfo)
    elif any(entry.submitted for entry in unknown):
        said = []
    else:
        why = "gives no times" if unknown else "says itself who was late"
        said = [f"deadline in class.toml is not used: {found.platform.name} {why}"]
    for entry in unknown:
        when = entry.submitted
        if when:
            entry.late = when.replace(tzinfo=when.tzinfo or deadline.tzinfo) > deadline
    return said
