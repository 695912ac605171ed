"""What a platform is: how its files are named, its list is read, and what it imports.

It imports its own list, with a column filled in; so without a list, no marks are written.
"""

import datetime
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensormark.classroom.entry import Entry
from tensormark.classroom.people import CsvTable, people_in
from tensormark.classroom.upload import ANY, Claim, Upload
from tensormark.files import is_folder
from tensormark.intake.file_names import ARCHIVES

DOCUMENTS = tuple(
    ".pdf .docx .doc .odt .rtf .pages .txt .md .html .htm .png .jpg .jpeg .7z .rar".split()
)
ENDINGS = "|".join(map(re.escape, (".py", ".ipynb", *ARCHIVES, *DOCUMENTS)))
ANY_TITLE = re.compile("(?P<name>.+)", re.S)
# of `1.000` the point is the decimal one
THOUSANDS = re.compile(
    r"(?![-+]?[0-9]+\.[0-9]{3}$)[-+]?[1-9][0-9]{0,2}([,.])[0-9]{3}(?:\1[0-9]{3})*(?:(?!\1)[,.][0-9]+)?"
)
AGAIN = re.compile(r".*-([0-9]{1,6})(?:\.[^.]*){1,2}", re.S)


def again(file: str) -> int:
    """Return the number of a file that was handed in again, `main-1.py`, 0 for the first."""
    match = AGAIN.fullmatch(file[:255])
    return int(match[1]) if match else 0


def moment(text: str, form: str = "") -> datetime.datetime | None:
    """Return a time, with its offset if it has one; None if it is not one.

    Args:
        form: its format for strptime; ISO 8601 if that is empty.
    """
    try:
        if form:
            when = datetime.datetime.strptime(text, form)
        else:
            plain = re.sub(" (?=[Z+-])", "", text.replace("UTC", "Z"))
            when = datetime.datetime.fromisoformat(plain)
        when.astimezone()  # fails where no clock can show it
    except (ValueError, OverflowError):
        return None
    return when


def number(text: str) -> float | None:
    """Parse a number as a platform writes it, in any language; return None if it is not one."""
    plain = text.strip()
    thousands = THOUSANDS.fullmatch(plain)
    if thousands:
        plain = plain.replace(thousands[1], "")
    plain = plain.replace(",", ".")
    return float(plain) if re.fullmatch(r"[-+]?[0-9]*\.?[0-9]+", plain) else None


# whose report, the name of a file in the zip, and its content or, as a text, why there is none
Feedback = tuple[Entry, str, bytes | str]


class Platform:
    """A learning platform; defaults are for one whose files and lists have no form of their own.

    Attributes:
        name: such as "canvas", as in class.toml; also the kind of ids that occur on it only.
        lists: titles, in lower case, that only lists of its own have together.
        columns: titles of its lists, in lower case, besides those that people.py knows from any
            list, and what they hold: its own ids, or "id", "login", "email", "name" and so on.
        known_by_list: whether the names of its files do not tell that they are the platform's.
        grades: matches the title, in lower case, of a column of marks; its group `name` is what
            staff call it, and a group `most` the highest mark that it takes.
        waiting: what stands in such a column until there is a mark; another text is kept.
        advice: what staff must know before they upload a second time.
        gives_ids: whether it says itself whose a file is, before what the student chose, so that of
            several claims the first is right, unless the list has another name there.
        wanted: which list identifies the people of its downloads, to complete "use ...".
        index: the name of a file that it adds to a download.
        test_students: names, in lower case, of the students that it makes for tests.
    """

    name: str
    lists: tuple[set[str], ...] = ()
    known_by_list = False
    columns: tuple[tuple[str, str], ...] = ()
    grades = ANY_TITLE
    waiting = re.compile("-?")
    advice = ""
    gives_ids = False
    wanted = "another list"
    index = ""
    test_students: tuple[str, ...] = ()

    def upload(self, path: Path) -> Upload | None:
        """Read the platform's part of a name in every way; None if it is not the platform's.

        Students choose part of most names, so that it may look like somebody else's.
        """
        return None

    def wrote(self, paths: Sequence[Path]) -> bool:
        """Return whether a folder is this platform's download: most of its names are.

        It is decided for the folder, because each student chooses one name.
        """
        own = [path for path in paths if path.name != self.index]
        return 2 * sum(self.upload(path) is not None for path in own) > len(own)

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read all names in a folder."""
        return [self.upload(path) or own_name(path) for path in paths if path.name != self.index]

    def is_list(self, titles: Sequence[str]) -> bool:
        """Return whether a file with such titles, in lower case, is this platform's own list."""
        return any(needed.issubset(titles) for needed in self.lists)

    def people(self, table: CsvTable) -> list[Entry]:
        """Return the people in its list.

        Raises:
            FileError: it cannot be used.
        """
        return people_in(table, dict(self.columns))

    def most(self, table: CsvTable, place: int) -> float | None:
        """Return the highest mark that a column takes; None if the list does not say."""
        match = self.grades.fullmatch(table.titles[place])
        return number(match.groupdict().get("most") or "") if match else None

    def check(self, table: CsvTable) -> None:
        """Check that the platform would import its list.

        Raises:
            FileError: it would not.
        """

    def refuses(self, entry: Entry) -> str:
        """Return why the platform would not take a mark in a student's row; "" if it would."""
        return ""

    def read_status(self, entry: Entry) -> str:
        """Note if its list says who was late; return what else staff should know, or ""."""
        return ""

    def feedback(self, entries: Sequence[Entry], folder: Path) -> Iterator[Feedback]:
        """Yield what may be in a zip of feedback.

        Args:
            folder: where the students' folders are.
        """
        yield from ()


def without_ending(name: str) -> str:
    """Return a file's name without the ending that says what it holds."""
    stem = re.fullmatch(rf"(.+?)(?:\.tar)?(?:{ENDINGS})", name, re.I | re.S)
    return stem[1] if stem else name


def after_titles(text: str, separator: str, kind: str) -> tuple[Claim, ...]:
    """Return a claim for what follows each separator, the shortest first, and for the whole.

    Which of them begins with the assignment's title is decided for the folder; see owners.py.
    """
    ends = [place + 1 for place, letter in enumerate(text) if letter == separator]
    names = [(text[:end], text[end:]) for end in (*reversed(ends), 0)]
    return tuple(Claim(name, kind, (name,), title=title) for title, name in names)


def own_name(path: Path) -> Upload:
    """Read a name that a person chose; the file's date says which of several is newest."""
    name = path.name if is_folder(path) else without_ending(path.name)
    claim = Claim(name, ANY, (name,))
    return Upload(path, (claim,), path.name, f"{path.lstat().st_mtime_ns:020}")
