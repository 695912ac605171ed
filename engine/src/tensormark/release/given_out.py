"""Which files students get of an assignment's folder: what every release has, and what is declared.

An assignment declares the rest in grader/staff.py: STAFF = Staff(..., release=Release(...)).
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.folder import PACKAGE
from tensormark.handout import MAIN, PAGES

STAFF_ONLY = ("mistakes", "honest", "staff.py")  # of the assignment's own code
ALWAYS = (MAIN, "requirements.txt")
IF_THERE = ("LICENSE", "Makefile")
PICTURE = re.compile(r"!\[[^]]*\]\(([^()\s]+)\)")  # in the handout


class ReleaseError(Exception):
    """A release cannot be built; the message gives the fix."""


@dataclasses.dataclass(frozen=True)
class Secret:
    """Something that stands in no code, such as labelled sentences, and that nobody may get.

    Attributes:
        what: such as "the test sentences".
        texts: what to search for; texts of less than 16 bytes are not.
        labels: whole numbers; the first 48 are searched for, if there are so many.
        bare: path of a file that gives texts out without their labels, to the lines that it must
            have. Each of these lines may stand there.
    """

    what: str
    texts: Sequence[str] = ()
    labels: Sequence[int] = ()
    bare: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Release:
    """What students get besides what every release has, and what they must not get.

    Attributes:
        copied: patterns of files, such as "data/*.csv"; there must be one for each.
        students: the path of a folder whose files only students get: they lie where the release's
            folder begins. Without a README.md there, one is written. Empty: there is no folder.
        edited: path of a file to what makes the students' edition of it: takes the path and the
            text, and returns the edition.
        staff: patterns of files whose text students must not get, besides the solution, mistakes,
            right code and private references; no file of their folders is given out.
        secrets: takes the folders of all private references, and returns what else is secret.
    """

    copied: tuple[str, ...] = ()
    students: str = ""
    edited: Mapping[str, Callable[[str, str], str]] = dataclasses.field(default_factory=dict)
    staff: tuple[str, ...] = ()
    secrets: Callable[[Assignment, Sequence[Path]], Iterable[Secret]] = lambda *_: ()


def fitting(folder: Path, pattern: str) -> list[Path]:
    """Return the files that fit a pattern, sorted, but none that Python has written."""
    paths = (path for path in folder.glob(pattern) if "__pycache__" not in path.parts)
    return sorted(path for path in paths if path.is_file())


def own_code(folder: Path) -> list[Path]:
    """Return the files that grade: the assignment's own code without what only staff have."""
    of_staff = [folder / PACKAGE / name for name in STAFF_ONLY]
    paths = fitting(folder, f"{PACKAGE}/**/*")
    return [
        path
        for path in paths
        if not any(path.is_relative_to(staff_path) for staff_path in of_staff)
    ]


def _pictures(assignment: Assignment) -> list[Path]:
    """Return the files that the handout shows.

    Raises:
        ReleaseError: one is not there.
    """
    folder, pictures = assignment.folder.resolve(), set()
    for page, text in assignment.handout.read().items():
        for name in PICTURE.findall(text):
            if "://" in name:
                continue
            path = (folder / page).parent.joinpath(name).resolve()
            if not path.is_file() or not path.is_relative_to(folder):
                raise ReleaseError(f"{page} shows {name}, which is not a file in {folder}")
            pictures.add(assignment.folder / path.relative_to(folder))
    return sorted(pictures)


def checkpoint_names(assignment: Assignment) -> list[str]:
    """Return the paths of the checkpoint's files that references depend on."""
    return [f"checkpoint/{name}" for name in assignment.checkpoint_files]


def data_names(assignment: Assignment) -> list[str]:
    """Return the paths of the data that grading reads."""
    return [f"data/{name}" for name in assignment.data_files]


def copied(assignment: Assignment, release: Release) -> dict[str, Path]:
    """Return the files of the folder that are given out, or an edition of them: path in it to file.

    Raises:
        ReleaseError: one is missing.
    """
    folder, paths = assignment.folder, own_code(assignment.folder)
    needed = [*ALWAYS, *checkpoint_names(assignment), *data_names(assignment)]
    for pattern in (*needed, *release.copied, *release.edited):
        matches = fitting(folder, pattern)
        if not matches:
            raise ReleaseError(f"{folder}: there is no {pattern} to give out")
        paths += matches
    paths += fitting(folder, PAGES) + _pictures(assignment)
    paths += [folder / name for name in IF_THERE if (folder / name).is_file()]
    return {path.relative_to(folder).as_posix(): path for path in sorted({*paths})}


def only_students(assignment: Assignment, release: Release) -> dict[str, Path]:
    """Return the files that only students get: path in the release to file.

    Raises:
        ReleaseError: there are none, though a folder of them is declared.
    """
    if not release.students:
        return {}
    folder = assignment.folder / release.students
    files = {path.relative_to(folder).as_posix(): path for path in fitting(folder, "**/*")}
    if not files:
        raise ReleaseError(f"{folder}: there is nothing for students")
    return files


def published(assignment: Assignment, release: Release) -> Iterator[bytes]:
    """Yield the contents of every file of the folder that something in a release comes from."""
    files = [*copied(assignment, release).values(), *only_students(assignment, release).values()]
    files += sorted(assignment.solution.glob("*.py"))
    files += fitting(assignment.references, "manifest.json")
    yield from (path.read_bytes() for path in files)
