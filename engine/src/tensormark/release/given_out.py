"""Which files of an assignment's folder students get: those of every release, and declared ones.

An assignment declares them in grader/staff.py: STAFF = Staff(..., release=Release(...)).
"""

import ast
import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import python_files
from tensormark.folder import PACKAGE, STAFF_ONLY
from tensormark.handout import MAIN, PAGES
from tensormark.usage import UserError

ALWAYS = (MAIN, "requirements.txt")
OPTIONAL = ("LICENSE", "Makefile")
PICTURE = re.compile(r"!\[[^]]*\]\(([^()\s]+)\)")  # in the handout


@dataclasses.dataclass(frozen=True)
class Secret:
    """Something outside the code, such as labelled sentences, that students must not get.

    Attributes:
        what: its name, such as "the test sentences".
        texts: what to search for, except texts of less than 16 bytes.
        labels: whole numbers; the first 48 are searched for, if there are that many.
        bare: for each file that gives out texts without their labels, by path: its exact lines.
            These lines are allowed there.
    """

    what: str
    texts: Sequence[str] = ()
    labels: Sequence[int] = ()
    bare: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Release:
    """What students get in addition to the files of every release, and what they must not get.

    Attributes:
        copied: patterns of files, such as "data/*.csv"; each must match at least one. What is in
            grader/ but is no code, or is code that only staff's files import, must be among them.
        students: the path of a folder whose files only students get, at the top of the release. If
            it has no README.md, one is written. Empty: there is no such folder.
        edited: path of a file to a function that makes the students' edition of it: it takes the
            path and the text, and returns the edition.
        staff: patterns of files whose text students must not get, besides the solution, mistakes,
            right code and private references; no file of their folders is given out.
        secrets: takes the assignment and the folders of all private references, and returns what
            else is secret.
    """

    copied: tuple[str, ...] = ()
    students: str = ""
    edited: Mapping[str, Callable[[str, str], str]] = dataclasses.field(default_factory=dict)
    staff: tuple[str, ...] = ()
    secrets: Callable[[Assignment, Sequence[Path]], Iterable[Secret]] = lambda *_: ()


def fitting(folder: Path, pattern: str) -> list[Path]:
    """Return the files that match a pattern, sorted, except Python's caches."""
    paths = (path for path in folder.glob(pattern) if "__pycache__" not in path.parts)
    return sorted(path for path in paths if path.is_file())


def own_code(folder: Path) -> list[Path]:
    """Return the assignment's own grading code, except the files for staff only."""
    package = folder / PACKAGE
    paths = fitting(package, "**/*")
    return [path for path in paths if path.relative_to(package).parts[0] not in STAFF_ONLY]


def _imported(package: Path, path: Path) -> Iterator[Path]:
    """Yield the modules of the assignment's own code that one of them imports."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = path.relative_to(package.parent).parts[: -node.level] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        for name in names:
            module = package.parent.joinpath(*name.split("."))
            yield from (
                p for p in (module.with_suffix(".py"), module / "__init__.py") if p.is_file()
            )


def _closure(package: Path, paths: Iterable[Path]) -> set[Path]:
    """Return modules, and all that they import of the assignment's own code."""
    found, pending = set[Path](), list(paths)
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            pending += [
                other for other in _imported(package, path) if other.is_relative_to(package)
            ]
    return found


def for_staff(folder: Path) -> list[Path]:
    """Return the assignment's own files that students get only if the release names them.

    These are all files that are not modules, and the modules that only staff's import.
    """
    package, own = folder / PACKAGE, own_code(folder)
    code = [path for path in own if path.suffix == ".py"]
    staff = [path for path in fitting(package, "**/*.py") if path not in code]
    of_staff = _closure(package, staff)
    given = _closure(
        package, [path for path in code if path not in of_staff or path in _roots(package)]
    )
    return [path for path in own if path not in given]


def _roots(package: Path) -> set[Path]:
    """Return the modules that grading begins with."""
    names = ("assignment.py", "harness.py", "viva.py")
    return {
        *(package / name for name in names),
        *package.glob("exercises/*.py"),
        *package.glob("**/__init__.py"),
    }


def _pictures(assignment: Assignment) -> list[Path]:
    """Return the pictures that the handout shows.

    Raises:
        UserError: one is missing, or outside the assignment's folder.
    """
    folder, pictures = assignment.folder.resolve(), set()
    for page, text in assignment.handout.read().items():
        for name in PICTURE.findall(text):
            if "://" in name:
                continue
            path = (folder / page).parent.joinpath(name).resolve()
            if not path.is_file() or not path.is_relative_to(folder):
                raise UserError(f"{page} shows {name}, which is not a file in {folder}")
            pictures.add(assignment.folder / path.relative_to(folder))
    return sorted(pictures)


def checkpoint_names(assignment: Assignment) -> list[str]:
    """Return the paths of the checkpoint's files that references depend on."""
    return [f"checkpoint/{name}" for name in assignment.checkpoint_files]


def data_names(assignment: Assignment) -> list[str]:
    """Return the paths of the data that grading reads."""
    return [f"data/{name}" for name in assignment.data_files]


def copied(assignment: Assignment, release: Release) -> dict[str, Path]:
    """Return the files of the folder that are given out, or edited for that: path to file.

    Raises:
        UserError: one is missing.
    """
    folder = assignment.folder
    kept = for_staff(folder)
    paths = [path for path in own_code(folder) if path not in kept]
    needed = [*ALWAYS, *checkpoint_names(assignment), *data_names(assignment)]
    for pattern in (*needed, *release.copied, *release.edited):
        matches = fitting(folder, pattern)
        if not matches:
            raise UserError(f"{folder}: there is no {pattern} to give out")
        paths += matches
    paths += fitting(folder, PAGES) + _pictures(assignment)
    paths += [folder / name for name in OPTIONAL if (folder / name).is_file()]
    return {path.relative_to(folder).as_posix(): path for path in sorted({*paths})}


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
