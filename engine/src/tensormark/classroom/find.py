"""What is in a folder of hand-ins: whose platform's download it is, and who handed in what.

No path is built from a name, no link is followed, and no list is taken from where students write.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tensormark.classroom.entry import Entry, first_of, legible
from tensormark.classroom.owners import NOT_LISTED, choose, entries_by_owner
from tensormark.classroom.people import FileError, Person, Table, people_in, read_table
from tensormark.classroom.platforms import BY_NAME, FOLDER, PLATFORMS
from tensormark.classroom.platforms.base import Platform
from tensormark.classroom.platforms.gradescope import METADATA, strangers
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
TEST_STUDENTS = ("student, test", "test student")  # of Canvas


def real(path: Path) -> Path:
    """Return a path with its links resolved as far as possible: they may be circular."""
    return Path(os.path.realpath(path))


def handed_in(folder: Path, without: Iterable[Path] = ()) -> list[Path]:
    """Return what was handed in: all in a folder but what systems put there, sorted.

    Args:
        without: staff's own files.

    Raises:
        FileError: the folder cannot be read.
    """
    excluded = {real(path) for path in without}
    try:
        paths = {path.name: path for path in folder.iterdir()}
    except OSError as error:
        raise FileError(f"{folder}: cannot be read ({error.strerror or error})") from error
    return sorted(
        path
        for name, path in paths.items()
        if not IGNORED.fullmatch(name)
        and name.removeprefix(COMPANION) not in paths.keys() - {name}
        and real(folder) / name not in excluded
    )


def read_list(path: Path) -> tuple[Table, list[Person], Platform]:
    """Read a list of the class: its table, its people, and the platform whose own it is.

    Raises:
        FileError: it cannot be used.
    """
    table = read_table(path)
    platform = next((each for each in PLATFORMS if each.is_list(table.titles)), FOLDER)
    return table, people_in(table, platform.columns), platform


@dataclass(frozen=True)
class Found:
    """What was found in a folder.

    Attributes:
        folder: the folder itself, or the only one in it.
        table: the list of the class, if there is one.
        listed_by: the platform whose own list it is.
    """

    folder: Path
    platform: Platform
    entries: list[Entry]
    table: Table | None = None
    listed_by: Platform = FOLDER

    @property
    def warnings(self) -> list[str]:
        """What staff should know about the whole."""
        paths = handed_in(self.folder)
        if any(path.name == METADATA for path in paths) and self.platform.name != "gradescope":
            others = strangers(paths)
            fix = 'platform = "gradescope" in class.toml reads it'
            if others:
                fix = f"move {legible(others[0].name)} to a folder of its own"
            return [f"{METADATA} is not read, as the platform is {self.platform.name}; {fix}"]
        found = [each for each in self.entries if each.path]
        unlisted = [each.called for each in found if NOT_LISTED in each.remarks]
        if self.table is None or not unlisted:
            return []
        listed = self.table.path
        if len(unlisted) < len(found):
            return [f"not in {listed}: {first_of(unlisted)}"]
        example = f"{unlisted[0]!r}, for instance, is none of its ids, logins, addresses or names"
        fix = "name another list in class.toml, or add a column `file`"
        return [f"none of the hand-ins matches {listed}: {example}; {fix}"]


def _entered(folder: Path, paths: Sequence[Path]) -> tuple[Path, list[Path]]:
    """Enter a platform's folder in which an unzipped download lies alone."""
    if len(paths) == 1 and is_folder(paths[0]):
        inner = handed_in(paths[0])
        if any(platform.wrote(inner) for platform in PLATFORMS if inner):
            return paths[0], inner
    return folder, list(paths)


def find(
    folder: Path, editable: Sequence[str], list_file: Path | None = None, platform: str = ""
) -> Found:
    """Return who handed in what.

    Args:
        folder: an unpacked bulk download, or any files and folders that are named after students.
        editable: the files that students edit.
        list_file: a list of the class; its students come first.
        platform: the name of the one that the folder is from; "" to judge by the names in it.

    Raises:
        FileError: there is nothing to grade, or the list cannot be used.
    """
    paths = handed_in(folder, [list_file] if list_file else [])
    if any(path.name == editable[0] and path.is_file() for path in paths):
        raise FileError(
            f"{folder}: contains {editable[0]} itself, so it is one submission, not a folder of "
            f"submissions; use {command('grade')}, or give its parent folder"
        )
    if not paths:
        raise FileError(f"{folder}: is empty; unpack the hand-ins into it")
    folder, paths = _entered(folder, paths)
    table, people, listed_by = read_list(list_file) if list_file else (None, [], FOLDER)
    chosen = next((each for each in PLATFORMS if each.wrote(paths)), FOLDER)
    if chosen is FOLDER and listed_by.known_by_list:
        chosen = listed_by
    if platform:
        chosen = BY_NAME[platform]
    entries = entries_by_owner(chosen.uploads(paths), chosen, people, folder)
    for each in entries:
        choose(each, folder, editable)
    entries = [each for each in entries if each.path or each.name.casefold() not in TEST_STUDENTS]
    return Found(folder, chosen, entries, table, listed_by)
