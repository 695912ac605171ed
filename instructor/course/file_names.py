"""What the files of a bulk download are called: by Canvas, Moodle, Gradescope and Blackboard.

Names are students' own in part. They are only ever compared and shown; no path is made of them.
"""

import datetime
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from instructor.course.entry import legible
from instructor.course.gradescope_export import METADATA, Submitted, read_metadata

# `lovelaceada_12345_678_bert.py`, late `lovelaceada_LATE_12345_678_bert.py`; text in a browser
# `lovelaceada_12345_text.html`. A file that was handed in again ends in `-1`.
CANVAS = re.compile(
    r"(?P<name>.*?)_(?P<late>LATE_)?(?P<id>\d+)_(?:\d+_(?P<file>.+)|text\.html)", re.S
)
# `Ada Lovelace_123_assignsubmission_file_`, a folder, or the beginning of a file's name
MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|(?P<text>onlinetext))(?:_(?P<file>.*))?",
    re.S,
)
# `Project 1_alovelace_attempt_2026-11-20-23-10-05_bert.py`; without a file's name, a note in .txt
BLACKBOARD = re.compile(
    r"(?P<head>.+?)_attempt_(?P<stamp>\d{4}(?:-\d\d){5})(?:_(?P<file>.+)|(?P<note>\.txt))", re.S
)
AGAIN = re.compile(r".*-(\d{1,6})(?:\.[^.]*){1,2}", re.S)
NOTE_NAME = re.compile(r"Name: *(.{1,200}) \(([^()\s]{1,200})\) *", re.I)
NOTE = 4096  # bytes of a note of Blackboard's that are read
# what systems and editors leave behind; any other name may be a student's, also one that is hidden
IGNORED = {
    *("__MACOSX", "Thumbs.db", "desktop.ini", ".DS_Store", ".localized", ".directory"),
    *(".Spotlight-V100", ".Trashes", ".fseventsd", ".git", ".gitignore", ".gitattributes"),
    *(".gitkeep", ".hg", ".svn", ".idea", ".vscode", ".venv", ".ipynb_checkpoints"),
    *(".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"),
}
IGNORED_BEGINNINGS = ("._", ".~lock.", ".nfs", ".fuse_hidden", ".Trash-")
ENDINGS = (".tar.gz", ".tgz", ".tar", ".zip", ".py", ".ipynb", ".gz", ".txt")


@dataclass(frozen=True)
class Found:
    """A file or folder that somebody handed in.

    Attributes:
        student: see HandIn; keys, name, submitted: too.
        file: what the student called it, as far as that is known.
        attempt: what was handed in at once has the same.
        again: how often a file of this name was handed in before.
        late: whether the system says so.
        typed: whether it was written in a field of the system's, and is no file of the student's.
    """

    path: Path
    student: str
    name: str
    keys: tuple[str, ...] = ()
    file: str = ""
    attempt: str = ""
    again: int = 0
    late: bool = False
    submitted: datetime.datetime | None = None
    typed: bool = False


def real(path: Path) -> Path:
    """Return where a path leads, as far as it leads anywhere: links may go round in circles."""
    return Path(os.path.realpath(path))


def entries(folder: Path) -> list[Path]:
    """Return what is in a folder, in order, without what systems put there."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.name not in IGNORED and not path.name.startswith(IGNORED_BEGINNINGS)
    )


def without_ending(name: str) -> str:
    """Return the name of a file without the ending that says what type it is."""
    ending = next((one for one in ENDINGS if name.lower().endswith(one)), "")
    return name[: -len(ending)] if ending and len(name) > len(ending) else name


def again(file: str) -> int:
    """Return the number of a file that was handed in again, 0 for the first."""
    found = AGAIN.fullmatch(file[:255])
    return int(found[1]) if found else 0


def by_canvas(path: Path) -> Found | None:
    """Read a name of Canvas."""
    if not (found := CANVAS.fullmatch(path.name)) or path.is_dir():
        return None
    file, late = found["file"] or "", bool(found["late"])
    number = again(file)
    return Found(path, found["id"], found["name"], (), file, "", number, late, typed=not file)


def by_moodle(path: Path) -> Found | None:
    """Read a name of Moodle; its number is that of a submission, and no system else knows it."""
    if not (found := MOODLE.fullmatch(path.name)):
        return None
    file = found["file"] or ""
    student = f"{found['name']}_{found['id']}"
    typed = bool(found["text"])
    return Found(path, student, found["name"], (), file, "", again(file), typed=typed)


def stamped(stamp: str) -> datetime.datetime | None:
    """Return the time in a name of Blackboard, which is this machine's as far as is known."""
    try:
        return datetime.datetime.strptime(stamp, "%Y-%m-%d-%H-%M-%S").astimezone()
    except (ValueError, OverflowError):
        return None


def note_of(path: Path) -> tuple[str, str] | None:
    """Return the name and login in a note of Blackboard's, if they are where it puts them."""
    if not path.is_file():  # whatever else there is may never end
        return None
    try:
        with path.open("rb") as file:
            first = file.read(NOTE).decode("utf-8-sig", "replace").splitlines()[:1]
    except OSError:
        return None
    found = NOTE_NAME.fullmatch(first[0]) if first else None
    return (found[1], found[2]) if found else None


def blackboards_people(named: Sequence[tuple[Path, re.Match[str]]]) -> dict[str, tuple[str, str]]:
    """Return the name and login for what stands before `_attempt_`, which begins with a title.

    The title is what all begin with that have their first word in common; a file that is called
    otherwise changes nothing for them. Two of them never become one student.
    """
    heads = sorted({found["head"] for _, found in named})
    people: dict[str, tuple[str, str]] = {}
    for _, group in itertools.groupby(heads, key=lambda head: head.partition("_")[0]):
        same = list(group)
        pairs = itertools.takewhile(
            lambda pair: pair[0] == pair[1], zip(same[0], same[-1], strict=False)
        )
        title = "".join(one for one, _ in pairs).rfind("_") + 1
        people |= {head: (head[title:] or head, head[title:] or head) for head in same}
    for path, found in named:
        note = note_of(path) if found["note"] else None
        if note and found["head"].endswith(f"_{note[1]}"):
            people[found["head"]] = note
    often = Counter([*heads, *(login for head, (_, login) in people.items() if login != head)])
    return {head: who if often[who[1]] == 1 else (head, head) for head, who in people.items()}


def from_blackboard(paths: Sequence[Path]) -> dict[Path, re.Match[str]]:
    """Return the names that are Blackboard's, and not another system's before a student's own.

    What a system writes comes first, so that the first mark counts. Blackboard's title and login
    may look like Canvas's numbers; then it is Canvas's if any other name in the folder is.
    """
    named = {path: found for path in paths if (found := BLACKBOARD.fullmatch(path.name))}
    canvas = any(CANVAS.fullmatch(path.name) for path in paths if path not in named)
    return {
        path: found
        for path, found in named.items()
        if not MOODLE.fullmatch(found["head"]) and not (canvas and CANVAS.fullmatch(path.name))
    }


def by_blackboard(named: Sequence[tuple[Path, re.Match[str]]]) -> list[Found]:
    """Read names of Blackboard; the note of an attempt is left out if there is a file besides."""
    people = blackboards_people(named)
    with_files = {(found["head"], found["stamp"]) for _, found in named if found["file"]}
    made = []
    for path, found in named:
        head, stamp, file = found["head"], found["stamp"], found["file"] or ""
        if file or (head, stamp) not in with_files:
            name, login = people[head]
            made.append(Found(path, login, name, (), file, stamp, submitted=stamped(stamp)))
    return made


def by_gradescope(folder: Path, submission: Submitted) -> Iterator[Found]:
    """Yield what each submitter of one folder of Gradescope's export handed in."""
    path = folder / submission.folder
    for who in submission.submitters or [{}]:
        keys = tuple(who[key] for key in ("sid", "email") if who.get(key))
        name = who.get("name") or submission.folder
        student = keys[0] if keys else f"{name}_{submission.folder}"
        when = submission.submitted
        yield Found(path, student, name, keys, "", submission.folder, submitted=when)


def plain(path: Path) -> Found:
    """Read a name that is a student's own; of several, the file's date tells which is newest."""
    name = path.name if path.is_dir() else without_ending(path.name)
    stamp = f"{path.lstat().st_mtime_ns:020}"
    return Found(path, name, name, (), path.name, stamp)


def found_in(folder: Path, without: Iterable[Path] = ()) -> list[Found]:
    """Return everything that was handed in.

    Args:
        without: files that are the instructor's, such as a roster.

    Raises:
        OSError: the folder cannot be read.
    """
    own = {real(path) for path in without}
    paths = [path for path in entries(folder) if real(path) not in own]
    if len(paths) == 1 and (paths[0] / METADATA).is_file():
        folder, paths = paths[0], entries(paths[0])
    metadata = folder / METADATA
    submissions = read_metadata(metadata) if metadata.is_file() else []
    found = list(itertools.chain(*(by_gradescope(folder, one) for one in submissions)))
    known = {one.path for one in found} | {metadata}
    paths = [path for path in paths if path not in known]
    blackboards = from_blackboard(paths)
    rest = [path for path in paths if path not in blackboards]
    others = (by_moodle(path) or by_canvas(path) or plain(path) for path in rest)
    whole = [*found, *by_blackboard(list(blackboards.items())), *others]
    return [replace(one, student=legible(one.student), name=legible(one.name)) for one in whole]
