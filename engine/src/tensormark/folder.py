"""The folder of an assignment: where its parts are, and how it is found and opened.

grader/assignment.py   says what the assignment is: ASSIGNMENT
grader/mistakes/       known mistakes, and grader/honest/ right code; students do not get these
solution/              with regions from which starter/ is derived
reference_outputs/     what was recorded
handout.md             a heading `Problem (id)` for each exercise, here or in handout/*.md
requirements.txt       what a submission may import
checkpoint/, data/     as far as there are any
"""

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing an assignment takes time, which most modules need not spend
    from tensormark.exercise import Assignment

PACKAGE = "grader"  # of an assignment's own code
SAYS_WHAT_IT_IS = f"{PACKAGE}/assignment.py"
VARIABLE = "TENSORMARK_ASSIGNMENT"  # names a folder, for processes that start elsewhere


class AssignmentError(Exception):
    """There is no assignment, or it cannot be opened; the message gives the fix."""


def find(start: Path) -> Path:
    """Return the assignment's folder: `start`, or the closest one around it.

    Raises:
        AssignmentError: there is none.
    """
    start = Path(os.path.abspath(start))
    for folder in (start, *start.parents):
        if (folder / SAYS_WHAT_IT_IS).is_file():
            return folder
    raise AssignmentError(
        f"{start}: there is no {SAYS_WHAT_IT_IS} here or in a folder around it; go to an "
        "assignment's folder, or name it: tensormark -C FOLDER ..."
    )


def here() -> Path:
    """Return the folder of the assignment that this process is about.

    Raises:
        AssignmentError: there is none.
    """
    return find(Path(os.environ.get(VARIABLE) or "."))


def _forget_another(folder: Path) -> None:
    """Forget the modules of another assignment, which have the same names, and where they are."""
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
    # last: nothing that an assignment holds may pass for a library
    sys.path[:] = [entry for entry in sys.path if entry != str(folder)] + [str(folder)]
    full = f"{PACKAGE}.{name}"
    path = folder / PACKAGE / name.replace(".", "/")
    try:
        imported = importlib.import_module(full)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise AssignmentError(f"{path}.py cannot be imported: {reason}") from error
    if Path(str(imported.__file__)).resolve().parent not in (path, path.parent):
        raise AssignmentError(
            f"{path}.py: Python finds {imported.__file__} in its place; rename that"
        )
    return imported


def modules(folder: Path, room: str) -> Iterator[ModuleType]:
    """Import each module of a folder of an assignment's package, in order of their names.

    Raises:
        AssignmentError: one cannot be imported.
    """
    for info in pkgutil.iter_modules([str(folder / PACKAGE / room)]):
        yield module(folder, f"{room}.{info.name}")


def open_assignment(folder: Path) -> "Assignment":
    """Import an assignment.

    Raises:
        AssignmentError: it cannot be imported, or says nothing.
    """
    from tensormark.exercise import Assignment

    assignment = getattr(module(folder, "assignment"), "ASSIGNMENT", None)
    if not isinstance(assignment, Assignment):
        raise AssignmentError(f"{folder / SAYS_WHAT_IT_IS} has no ASSIGNMENT = Assignment(...)")
    return assignment
