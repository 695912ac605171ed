"""Read a submission: the text of the files in a folder, a single .py file or an archive.

Only the files that students edit are read, under their own name or the name that Canvas or Moodle
gave them in a bulk download; everything else is ignored. Invalid files are rejected with one
sentence that names the file.

Covered: archives are read within limits and never unpacked to disk (archives.py); a link in a
folder is followed within that folder only. Not covered: what the text does when it is run.
"""

import dataclasses
import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.intake.archives import SUFFIXES, ArchiveError, archive_type, members
from grader.intake.flags import Flag
from grader.intake.syntax import shown

MAX_SOURCE = 256 << 10  # bytes; the solution has 8 kB
MAX_SEARCHED = 2000  # entries of a folder that are examined; more are ignored
MAX_DEPTH = 3
# `lovelace_12345_678_main.py`, if late `lovelace_LATE_12345_678_main.py`; and
# `Ada Lovelace_123_assignsubmission_file_main.py`. A resubmission ends in `main-1.py`.
BULK = re.compile(r"(?:[^/]*_\d+_\d+_|[^/]*_\d+_assignsubmission_file_)?(.+?)(?:-\d+)?\.py", re.S)
ONE = "give the folder starter/ or your one file, not what is around it"
UNNAMED = "the name of a Python file ends in .py"
NOT_SEARCHED = {"__MACOSX", "__pycache__", "venv", "node_modules"}


class SubmissionError(Exception):
    """A submission that cannot be graded; the message is one sentence."""


@dataclasses.dataclass(frozen=True)
class Submission:
    """The editable files of one submission.

    Attributes:
        name: as given on the command line.
        sources: module name to text, such as "main" to the text of main.py.
        faults: module name to why it cannot be imported, for files that are not Python.
        others: names of further modules and folders beside them, which are not graded.
        flags: module name to what a person should look at, known once it was inspected; see
            inspection.py.
    """

    name: str
    sources: dict[str, str]
    faults: dict[str, str]
    others: frozenset[str] = frozenset()
    flags: Mapping[str, Sequence[Flag]] = dataclasses.field(default_factory=dict)


def wanted(name: str, editable: Sequence[str]) -> str | None:
    """Return the editable file that a file name stands for, or None.

    Some systems ignore case, so `Main.py` also stands for main.py; if both are there, that is an
    error.
    """
    if len(name) > 255:  # no system allows such a name, and patterns are slow on it
        return None
    found = BULK.fullmatch(name.lower())
    return f"{found[1]}.py" if found and f"{found[1]}.py" in editable else None


def read_bytes(path: Path) -> bytes:
    """Read a file, unless it is too large to be a source."""
    with path.open("rb") as file:
        content = file.read(MAX_SOURCE + 1)
    if len(content) > MAX_SOURCE:
        raise SubmissionError(
            f"{path}: larger than {MAX_SOURCE >> 10} KiB, too large for a solution"
        )
    return content


def below(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the files below a folder, top level first; links to folders are not followed."""
    with os.scandir(folder) as scan:
        entries = sorted(itertools.islice(scan, MAX_SEARCHED), key=lambda entry: entry.name)
    yield from (Path(entry.path) for entry in entries if entry.is_file())
    for entry in entries if depth > 1 else ():
        visible = not entry.name.startswith(".") and entry.name not in NOT_SEARCHED
        if visible and entry.is_dir(follow_symlinks=False):
            yield from below(Path(entry.path), depth - 1)


def searched(folder: Path, editable: Sequence[str]) -> list[Path]:
    """Return the editable files at a folder's top level; if there are none, all files below it."""
    top = [folder / name for name in editable if (folder / name).is_file()]
    return top or list(itertools.islice(below(folder, MAX_DEPTH), MAX_SEARCHED))


def beside(path: Path) -> set[str]:
    """Return the names of the modules and folders in the folder of a file."""
    with os.scandir(path.parent) as scan:
        return {entry.name.removesuffix(".py") for entry in itertools.islice(scan, MAX_SEARCHED)}


def from_folder(folder: Path, editable: Sequence[str], others: set[str]) -> dict[str, bytes]:
    """Read the editable files of a folder: at its top level, or else below it.

    Args:
        others: gets the names of the modules beside them.
    """
    files = searched(folder, editable)
    found: dict[str, Path] = {}
    for path in files:
        name = wanted(path.name, editable)
        if name is None:
            continue
        if name in found:
            both = f"{shown(str(found[name]))} and {shown(str(path))}"
            raise SubmissionError(f"{folder}: more than one {name}: {both}; {ONE}")
        found[name] = path
    packed = [path for path in files if path.suffix in SUFFIXES]
    if not found and len(packed) == 1 and packed[0].is_file():
        return from_archive(packed[0], editable, others)
    for path in found.values():
        if not path.resolve().is_relative_to(folder.resolve()):
            raise SubmissionError(f"{path}: is a link to a file outside of the folder")
        others |= beside(path)
    return {name: read_bytes(path) for name, path in found.items()}


def from_archive(path: Path, editable: Sequence[str], others: set[str]) -> dict[str, bytes]:
    """Read the editable files of an archive, at any level; note the names of other modules."""
    nested: list[str] = []

    def look(name: str) -> str | None:
        if name.endswith(".py") and len(others) < MAX_SEARCHED:
            others.add(name.removesuffix(".py"))
        if name.lower().endswith(SUFFIXES):
            nested.append(name)
        return wanted(name, editable)

    found: dict[str, tuple[str, bytes]] = {}
    try:
        for place, name, content in members(path, look, MAX_SOURCE):
            if name in found:
                both = f"{shown(found[name][0])} and {shown(place)}"
                raise SubmissionError(f"{path}: more than one {name} in it: {both}; {ONE}")
            found[name] = place, content
    except ArchiveError as error:
        raise SubmissionError(f"{path}: {error}") from error
    if not found and nested:
        raise SubmissionError(
            f"{path}: there is no {editable[0]} in it, but another archive, {shown(nested[0])}; "
            "hand in the file itself"
        )
    return {name: content for name, (_, content) in found.items()}


def fault_of(name: str, content: bytes) -> tuple[str, str | None]:
    """Decode a source; return its text and why it cannot be read, if it cannot."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return "", f"{name}:{line}: not UTF-8 text; save the file as UTF-8"
    if not text.strip():
        return "", f"{name} is empty"
    return text, None


def read_submission(
    path: str | Path, editable: Sequence[str], neighbours: bool = True
) -> Submission:
    """Read a submission.

    Args:
        path: a folder, a file of any name that ends in .py, a zip or a tar.
        editable: the files that students edit; there is nothing to grade without the first.
        neighbours: what is beside a single file is the student's too.

    Raises:
        SubmissionError: there is nothing to grade.
    """
    given, path = str(path), Path(path)
    others: set[str] = set()
    if path.is_dir():
        files = from_folder(path, editable, others)
    elif path.is_file() and path.suffix == ".py":
        files = {wanted(path.name, editable) or editable[0]: read_bytes(path)}
        others |= beside(path) if neighbours else set()
    elif path.is_file() and archive_type(path):
        files = from_archive(path, editable, others)
    elif path.is_file() and not path.stat().st_size:
        raise SubmissionError(f"{given}: an empty file")
    elif path.exists():
        what = f"copy your code into {editable[0]}" if path.suffix == ".ipynb" else UNNAMED
        what = what if path.is_file() else "it is a pipe, a socket or a device"
        raise SubmissionError(f"{given}: not a folder, a .py file, a zip or a tar; {what}")
    else:
        where = "" if path.is_absolute() else f" in {Path.cwd()}"
        raise SubmissionError(f"{given}: there is no such file or folder{where}")
    if editable[0] not in files and path.suffix == ".py" and not path.is_dir():
        missing = f"is graded together with {editable[0]}; give a folder or a zip of both"
        raise SubmissionError(f"{given}: {missing}")
    if editable[0] not in files:
        raise SubmissionError(f"{given}: there is no {editable[0]} in it")
    sources, faults = {}, {}
    for name, content in files.items():
        module = name.removesuffix(".py")
        sources[module], fault = fault_of(name, content)
        if fault is not None:
            faults[module] = fault
    return Submission(given, sources, faults, frozenset(others))
