"""Which files of an assignment's folder students get: those of every release, and declared ones.

An assignment declares them in grader/staff.py: STAFF = Staff(..., release=Release(...)).
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from modulefinder import ModuleFinder
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import python_files
from tensormark.folder import PACKAGE, STAFF_ONLY
from tensormark.handout import MAIN, PAGES
from tensormark.usage import UserError

ALWAYS = (MAIN, "requirements.txt")
OPTIONAL = (PAGES, "LICENSE", "Makefile", ".gitattributes")
STARTING = ("assignment.py", "harness.py", "viva.py", "exercises/*.py")  # grading imports these
PICTURE = re.compile(r"!\[[^]]*\]\(([^()\s]+)\)")  # in the handout


@dataclasses.dataclass(frozen=True)
class Secret:
    """Something outside the code, such as labelled sentences, that students must not get.

    Attributes:
        what: its name, such as "the test sentences".
        lines: what no line of a release may be, except those of less than 20 characters.
        labels: numbers of one digit; the first 48 are searched for, if there are that many.
    """

    what: str
    lines: Sequence[str] = ()
    labels: Sequence[int] = ()


@dataclasses.dataclass(frozen=True)
class Release:
    """What students get in addition to the files of every release, and what they must not get.

    Attributes:
        copied: patterns of files, such as "data/*.csv"; each must match at least one. What is in
            grader/ but is not imported by grading must be among them.
        students: the path of a folder whose files only students get, at the top of the release. If
            it has no README.md, one is written. Empty: there is no such folder.
        edited: path of a file to a function that makes the students' edition of it: it takes the
            path and the text, and returns the edition.
        secrets: takes the assignment and the folders of all private references, and returns what
            else is secret.
    """

    copied: tuple[str, ...] = ()
    students: str = ""
    edited: Mapping[str, Callable[[str, str], str]] = dataclasses.field(default_factory=dict)
    secrets: Callable[[Assignment, Sequence[Path]], Iterable[Secret]] = lambda *_: ()


def fitting(folder: Path, *patterns: str) -> list[Path]:
    """Return the files that match patterns, sorted, except Python's caches."""
    paths = set().union(*map(folder.glob, patterns))
    return sorted(path for path in paths if path.is_file() and "__pycache__" not in path.parts)


def own_code(folder: Path) -> list[Path]:
    """Return the assignment's own grading code, except the files for staff only."""
    package = folder / PACKAGE
    paths = fitting(package, "**/*")
    return [path for path in paths if path.relative_to(package).parts[0] not in STAFF_ONLY]


def deciding(folder: Path) -> list[Path]:
    """Return an assignment's files that decide a grade, besides references, checkpoint and data."""
    others = fitting(folder, "solution/**/*.py", "starter/**/*.py", *ALWAYS, PAGES)
    return [path for path in own_code(folder) if path.suffix == ".py"] + others


def graded_with(folder: Path) -> list[Path]:
    """Return the modules that grading imports, directly or indirectly, of the assignment's own."""
    finder = ModuleFinder([str(folder)])
    for path in fitting(folder / PACKAGE, *STARTING):
        finder.import_hook(".".join(path.relative_to(folder).with_suffix("").parts))
    files = [vars(module)["__file__"] for module in finder.modules.values()]
    return sorted(Path(file) for file in files if file)  # what is built into Python has none


def _pictures(assignment: Assignment) -> Iterator[Path]:
    """Yield the pictures that the handout shows.

    Raises:
        UserError: one is missing, or outside the assignment's folder.
    """
    folder = assignment.folder.resolve()
    for page, text in assignment.handout.read().items():
        for name in PICTURE.findall(text):
            if "://" not in name:
                path = (folder / page).parent.joinpath(name).resolve()
                if not path.is_file() or not path.is_relative_to(folder):
                    raise UserError(f"{page} shows {name}, which is not a file in {folder}")
                yield assignment.folder / path.relative_to(folder)


def graded_from(assignment: Assignment) -> list[str]:
    """Return the paths of the data and of the checkpoint's files that grading reads."""
    checkpoint = [f"checkpoint/{name}" for name in assignment.checkpoint_files]
    return checkpoint + [f"data/{name}" for name in assignment.data_files]


def copied(assignment: Assignment, release: Release) -> dict[str, Path]:
    """Return the files of the folder that are given out, or edited for that: path to file.

    Raises:
        UserError: one is missing.
    """
    folder = assignment.folder
    paths = graded_with(folder) + fitting(folder, *OPTIONAL)
    for pattern in (*ALWAYS, *graded_from(assignment), *release.copied, *release.edited):
        matches = fitting(folder, pattern)
        if not matches:
            raise UserError(f"{folder}: there is no {pattern} to give out")
        paths += matches
    paths += _pictures(assignment)
    return {path.relative_to(folder).as_posix(): path for path in sorted(set(paths))}


def only_students(assignment: Assignment, release: Release) -> dict[str, Path]:
    """Return the files that only students get: path in the release to file.

    Raises:
        UserError: a folder of them is declared, but it has none.
    """
    if not release.students:
        return {}
    folder = assignment.folder / release.students
    files = {path.relative_to(folder).as_posix(): path for path in fitting(folder, "**/*")}
    if not files:
        raise UserError(f"{folder}: there are no files for students")
    return files


def published(assignment: Assignment, release: Release) -> Iterator[bytes]:
    """Yield the contents of every file of the folder that goes into a release in some form."""
    files = [*copied(assignment, release).values(), *only_students(assignment, release).values()]
    files += python_files(assignment.solution).values()
    files += fitting(assignment.references, "manifest.json")
    yield from (path.read_bytes() for path in files)
