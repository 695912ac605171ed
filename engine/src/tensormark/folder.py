"""The folder of an assignment: where its parts are, and how it is found and opened.

grader/assignment.py   defines the assignment: ASSIGNMENT
grader/mistakes/       known mistakes, and grader/honest/ correct code; students do not get these
solution/              with regions from which starter/ is derived
reference_outputs/     recorded answers
handout.md             a heading `Problem (id)` for each exercise, here or in handout/*.md
requirements.txt       the packages that a submission may import
checkpoint/, data/     optional
"""

import functools
import importlib
import os
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TYPE_CHECKING

from tensormark.usage import UserError, enumerated, one_line

if TYPE_CHECKING:  # importing an assignment takes time, which most modules need not spend
    from tensormark.exercise import Assignment

PACKAGE = "grader"  # of an assignment's own code
STAFF_ONLY = ("mistakes", "honest", "staff.py")  # of it: what references are recorded from
DEFINITION = f"{PACKAGE}/assignment.py"
DOCS = Path(__file__).with_name("docs")


class AssignmentError(UserError):
    """There is no assignment, or it cannot be opened; the message gives the fix."""


def find(start: Path) -> Path:
    """Return the assignment's folder: `start`, or the closest one above it.

    Raises:
        AssignmentError: there is none.
    """
    start = Path(os.path.abspath(start))
    for folder in (start, *start.parents):
        if (folder / DEFINITION).is_file():
            return folder
    raise AssignmentError(
        f"{start}: there is no {DEFINITION} here or in a folder above it; go to an "
        "assignment's folder, or name it: tensormark -C FOLDER ..."
    )


def _forget_another(folder: Path) -> None:
    """Forget the modules of another assignment, which have the same names, and their path."""
    package = sys.modules.get(PACKAGE)
    if package is None or Path(str(package.__file__)).parent == folder / PACKAGE:
        return
    other = str(Path(str(package.__file__)).parents[1])
    sys.path[:] = [entry for entry in sys.path if entry != other]
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    importlib.invalidate_caches()


def module(folder: Path, name: str) -> ModuleType:
    """Import a module of an assignment's package, such as "assignment" or "mistakes.conv".

    Raises:
        AssignmentError: it cannot be imported.
    """
    folder = folder.resolve()
    _forget_another(folder)
    # last, so that nothing in an assignment can shadow a library
    sys.path[:] = [entry for entry in sys.path if entry != str(folder)] + [str(folder)]
    full = f"{PACKAGE}.{name}"
    path = folder / PACKAGE / name.replace(".", "/")
    try:
        imported = importlib.import_module(full)
    except Exception as error:
        frames = [(Path(each.filename), each.lineno) for each in extract_tb(error.__traceback__)]
        own = [(at, line) for at, line in frames if at.is_relative_to(folder)]
        where = "".join(f" ({at.relative_to(folder)}, line {line})" for at, line in own[1:][-1:])
        text = f"{path}.py cannot be imported: {one_line(error)}{where}"
        raise AssignmentError(text) from error
    if Path(str(imported.__file__)).resolve().parent not in (path, path.parent):
        raise AssignmentError(
            f"{path}.py: Python finds {imported.__file__} instead; rename that file"
        )
    return imported


def modules(folder: Path, subpackage: str) -> Iterator[ModuleType]:
    """Import each module in a folder of an assignment's package, in order of their names.

    Raises:
        AssignmentError: one cannot be imported.
    """
    for info in pkgutil.iter_modules([str(folder / PACKAGE / subpackage)]):
        yield module(folder, f"{subpackage}.{info.name}")


def _parts(version: str) -> list[int]:
    return [int(part) for part in version.split(".")[:2]]


@functools.cache  # a process may open an assignment several times
def _say_what_changed(written_for: str) -> None:
    """Say what to read if another version of the engine is installed.

    Raises:
        AssignmentError: that is no version.
    """
    from importlib.metadata import version  # here, as it takes time to import

    installed = version("tensormark")
    if not re.fullmatch(r"\d{1,4}\.\d{1,4}", written_for, re.ASCII):
        wrong = f"{DEFINITION}: engine={written_for!r} is not the beginning of a version"
        raise AssignmentError(f"{wrong}, as is {installed.rpartition('.')[0]!r}")
    page = DOCS / "changelog.md"
    headings = re.findall(r"^## ([\d.]+)", page.read_text("utf-8"), re.MULTILINE)
    newer = [h for h in headings if _parts(written_for) < _parts(h) <= _parts(installed)]
    fix = f"read {enumerated(newer)} in {page}, and change engine" if newer else "upgrade it"
    if newer or _parts(installed) < _parts(written_for):
        about = f"{DEFINITION} is for tensormark {written_for}, and {installed} is installed"
        print(f"{about}: {fix}", file=sys.stderr)


def open_assignment(folder: Path) -> "Assignment":
    """Import an assignment; say what to change in one for another version of the engine.

    Raises:
        AssignmentError: it cannot be imported, or defines no assignment.
    """
    from tensormark.exercise import Assignment

    assignment = getattr(module(folder, "assignment"), "ASSIGNMENT", None)
    if not isinstance(assignment, Assignment):
        raise AssignmentError(f"{folder / DEFINITION} has no ASSIGNMENT = Assignment(...)")
    if assignment.engine:
        _say_what_changed(str(assignment.engine))
    return assignment
