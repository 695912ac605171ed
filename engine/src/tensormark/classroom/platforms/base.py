"""What a platform is: how its files are named, its list is read, its marks and feedback written."""

import dataclasses
import datetime
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from tensormark.classroom.entry import ANY, Claim, Entry, Upload
from tensormark.classroom.people import Table
from tensormark.files import is_folder
from tensormark.intake.file_names import ARCHIVES
from tensormark.reports.text import points

DOCUMENTS = tuple(
    ".pdf .docx .doc .odt .rtf .pages .txt .md .html .htm .png .jpg .jpeg .7z .rar".split()
)
ENDINGS = "|".join(map(re.escape, (".py", ".ipynb", *ARCHIVES, *DOCUMENTS)))
AGAIN = re.compile(r".*-([0-9]{1,6})(?:\.[^.]*){1,2}", re.S)
ROUNDED = 0.005  # half of the last decimal that a platform shows


def again(file: str) -> int:
    """Return the number of a file that was handed in again, `main-1.py`, 0 for the first."""
    match = AGAIN.fullmatch(file[:255])
    return int(match[1]) if match else 0


def moment(text: str) -> datetime.datetime | None:
    """Return a time, by default in this machine's time zone; None if it is not one."""
    plain = re.sub(" (?=[Z+-])", "", text.replace("UTC", "Z"))
    try:
        return datetime.datetime.fromisoformat(plain).astimezone()
    except (ValueError, OverflowError):
        return None


def number(text: str) -> float | None:
    """Parse a number as a platform writes it, in any language; return None if it is not one."""
    plain = text.strip().replace(",", ".")
    return float(plain) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", plain) else None


@dataclasses.dataclass
class MarksFile:
    """A file of marks to upload, and what staff should know about it.

    Attributes:
        marks: new marks, by the index of their row in the list of the class.
        replaced: whose mark differs from the one on the platform; left: who keeps theirs, and why.
        warning: what is wrong with the whole file; "" if nothing is.
    """

    text: str = ""
    marks: dict[int, str] = dataclasses.field(default_factory=dict)
    replaced: list[str] = dataclasses.field(default_factory=list)
    left: list[str] = dataclasses.field(default_factory=list)
    warning: str = ""


def new_marks(
    table: Table,
    place: int,
    entries: Iterable[Entry],
    why_not: Callable[[Sequence[str], float], str] = lambda *_: "",
) -> MarksFile:
    """Return everybody's mark, without the file's text.

    Args:
        place: of the column with the platform's marks; a text there, such as EX for an excused
            student, is kept.
        why_not: says why the platform would not take a mark in a row; "" if it would.
    """
    result = MarksFile()
    for entry in entries:
        if entry.row is None:
            continue
        row = table.rows[entry.row]
        old = row[place].strip() if place < len(row) else ""
        before = number(old)
        mark = entry.points
        fault = entry.without if mark is None else why_not(row, mark)
        if mark is not None and old and before is None:
            fault = fault or f"has {old[:40]!r} there, which is kept"
        if mark is None or fault:
            result.left.append(f"{entry.called}: {fault}")
            continue
        result.marks[entry.row] = points(mark)
        if before is not None and abs(before - mark) >= ROUNDED:
            result.replaced.append(f"{entry.called}: {old[:40]} becomes {points(mark)}")
    return result


class Platform:
    """A learning platform; defaults are for one whose files and lists have no form of their own.

    Attributes:
        name: such as "canvas", as in class.toml; also the kind of ids, see people.IDS, that occur
            on this platform only.
        lists: titles, in lower case, that only lists of its own have together.
        columns: titles of its lists, in lower case, and what they hold, besides those that any
            list may have.
        known_by_list: whether the names of its files do not tell that they are the platform's.
        written: the files in OUT to import there, which each run writes anew.
        chosen_by_students: whether students choose the names of what they hand in.
        wanted: which list identifies the people of its downloads, to complete "use ...".
        test_students: names, in lower case, of the students that it makes for tests.
    """

    name: ClassVar[str]
    lists: ClassVar[tuple[set[str], ...]] = ()
    known_by_list: ClassVar[bool] = False
    written: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[tuple[str, str], ...]] = ()
    chosen_by_students: ClassVar[bool] = True
    wanted: ClassVar[str] = "another list"
    test_students: ClassVar[tuple[str, ...]] = ()

    def upload(self, path: Path) -> Upload | None:
        """Read the platform's part of a name in every way; None if it is not the platform's.

        Students choose part of most names, so that it may look like somebody else's.
        """
        del path
        return None

    def overlooked(self, paths: Sequence[Path], reader: str) -> str:
        """Say what of this platform's is in a folder that another one reads; "" if nothing."""
        return ""

    def wrote(self, paths: Sequence[Path]) -> bool:
        """Say whether a folder is this platform's download: most of its names are.

        It is decided for the folder, because each student chooses one name.
        """
        return 2 * sum(self.upload(path) is not None for path in paths) > len(paths)

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read all names in a folder."""
        return [self.upload(path) or own_name(path) for path in paths]

    def is_list(self, titles: Sequence[str]) -> bool:
        """Say whether a file with such titles, in lower case, is this platform's own list."""
        return any(needed <= {*titles} for needed in self.lists)

    def marks(
        self, table: Table, column: str, most: float, entries: Sequence[Entry]
    ) -> MarksFile | None:
        """Return the file of marks that the platform imports, made from its own list, if it does.

        Args:
            column: which column to fill, if the list has several.
            most: the highest mark.

        Raises:
            FileError: the list cannot be used for this.
        """
        return None

    def feedback(self, entries: Sequence[Entry], folder: Path) -> Iterator[tuple[str, bytes | str]]:
        """Yield the files of a zip of feedback by name; a text says why there is none instead.

        Args:
            folder: where the students' folders are.
        """
        yield from ()


def without_ending(name: str) -> str:
    """Return a file's name without the ending that says what it holds."""
    stem = re.fullmatch(rf"(.+?)(?:\.tar)?(?:{ENDINGS})", name, re.I | re.S)
    return stem[1] if stem else name


def without_common(names: Sequence[str], separator: str) -> dict[str, list[str]]:
    """Return what follows each separator in what all names begin with, the shortest first."""
    common = os.path.commonprefix(names)  # noqa: RUF071 - of letters, not of folders
    ends = [place + 1 for place, letter in enumerate(common) if letter == separator]
    return {name: [name[end:] for end in reversed(ends) if name[end:]] or [name] for name in names}


def own_name(path: Path) -> Upload:
    """Read a name that a person chose; the file's date says which of several is newest."""
    name = path.name if is_folder(path) else without_ending(path.name)
    claim = Claim(name, {ANY: name})
    return Upload(path, (claim,), path.name, f"{path.lstat().st_mtime_ns:020}")
