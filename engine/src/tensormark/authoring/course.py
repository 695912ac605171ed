"""What references are recorded from: an assignment with its solution, mistakes and right code."""

import dataclasses
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tensormark.authoring.variants import Honest, Variant, VariantError
from tensormark.exercise import Assignment
from tensormark.folder import PACKAGE, AssignmentError, module, modules
from tensormark.references import References, ReferencesError, again
from tensormark.release.given_out import Release
from tensormark.sandbox.packages import installed, requirement_names
from tensormark.usage import UserError, one_line

STAFF_FILE = "staff.py"


@dataclasses.dataclass(frozen=True)
class Staff:
    """What else only staff have of an assignment: STAFF in grader/staff.py, if needed.

    Attributes:
        common: ids of the mistakes that are also recorded in combination with others.
        seen: how often students were seen to make a mistake, by its id; others were never seen.
        data_files: the files of data/ whose digests the manifest records.
        measured: takes the digests of the checkpoint's files, and returns further entries of the
            manifest, such as a threshold.
        hidden: takes the assignment and a private seed, and returns files that only private
            references have: name to text.
        hidden_files: all names that `hidden` may return.
        known_seeds: returns other seeds that students can know besides the public references',
            and where each is published.
        release: what is given out in addition to the files of every release.
    """

    common: frozenset[str] = frozenset()
    seen: Mapping[str, int] = dataclasses.field(default_factory=dict)
    data_files: tuple[str, ...] = ()
    measured: Callable[[Assignment, Mapping[str, str]], dict[str, Any]] = lambda *_: {}
    hidden: Callable[[Assignment, int], dict[str, str]] = lambda *_: {}
    hidden_files: tuple[str, ...] = ()
    known_seeds: Callable[[Assignment], dict[int, str]] = lambda *_: {}
    release: Release = dataclasses.field(default_factory=Release)


@dataclasses.dataclass(frozen=True)
class Course:
    """An assignment, and everything about it that only staff have.

    Attributes:
        variants: known wrong variants of the solution.
        honest: right solutions, written differently.
    """

    assignment: Assignment
    variants: tuple[Variant, ...] = ()
    honest: tuple[Honest, ...] = ()
    staff: Staff = Staff()

    def ask_staff(self, name: str, *arguments: Any) -> Any:
        """Call a function of STAFF.

        Raises:
            UserError: it cannot be called so, or it raises.
        """
        try:
            return getattr(self.staff, name)(*arguments)
        except UserError:
            raise
        except Exception as error:  # the assignment's own code
            where = self.assignment.folder / PACKAGE / STAFF_FILE
            raise UserError(f"{where}: `{name}` of STAFF: {one_line(error)}") from error

    def hidden(self, seed: int) -> dict[str, bytes]:
        """Return the files that only private references have, by name; none for a public seed.

        Raises:
            UserError: STAFF does not return them.
        """
        if seed == self.assignment.seed:
            return {}
        files = self.ask_staff("hidden", self.assignment, seed)
        where = self.assignment.folder / PACKAGE / STAFF_FILE
        if not isinstance(files, Mapping) or not files.keys() <= set(self.staff.hidden_files):
            raise UserError(
                f"{where}: `hidden` of STAFF must return texts by names in hidden_files"
            )
        return {name: str(text).encode() for name, text in files.items()}


def staff_of(folder: Path) -> Staff:
    """Return what else only staff have of the assignment in a folder.

    Raises:
        AssignmentError: grader/staff.py cannot be imported, or has no STAFF.
    """
    path = folder / PACKAGE / STAFF_FILE
    if not path.is_file():
        return Staff()
    staff = getattr(module(folder, "staff"), "STAFF", None)
    if not isinstance(staff, Staff):
        raise AssignmentError(f"{path} has no STAFF = Staff(...)")
    return staff


def open_course(assignment: Assignment) -> Course:
    """Return an assignment with its mistakes, right code, and what else only staff have.

    It says which packages in requirements.txt are not installed, if any are not.

    Right code from the files of mistakes comes last.

    Raises:
        AssignmentError: a file cannot be imported.
        VariantError: two mistakes in an exercise have the same id, or one belongs to no exercise.
    """
    folder = assignment.folder
    lacking = [
        name
        for name in requirement_names(assignment.requirements)
        if not installed([name], sys.path)
    ]
    if lacking:
        print("requirements.txt lists what is not installed:", *lacking, file=sys.stderr)
    module_of = {exercise.id: exercise.module for exercise in assignment.exercises}
    variants: list[Variant] = []
    honest: list[Honest] = []
    for own in modules(folder, "honest"):
        honest += own.HONEST
    for own in modules(folder, "mistakes"):
        honest += getattr(own, "HONEST", ())
        for variant in own.VARIANTS:
            name = variant.exercise
            if name not in module_of:
                raise VariantError(f"there are mistakes for {name}, which is not an exercise")
            file = Path(own.__file__ or "")
            variants.append(dataclasses.replace(variant, file=file, module=module_of[name]))
    for (exercise, name), count in Counter((each.exercise, each.id) for each in variants).items():
        if count > 1:
            raise VariantError(f"{exercise}: more than one mistake is named {name}")
    main = assignment.main_file.removesuffix(".py")
    placed = []
    for right in honest:
        first = next(iter(right.bodies), "")
        changed = right.module or module_of.get(first, main)
        placed.append(dataclasses.replace(right, module=changed))
    return Course(assignment, tuple(variants), tuple(placed), staff_of(folder))


def require_current(course: Course, references: References) -> None:
    """Check that references were recorded with the solution, calls and mistakes as they are now.

    Raises:
        ReferencesError: they were not.
    """
    references.check_solution(course.assignment.solution)
    for exercise in course.assignment.exercises:
        if not exercise.probes:
            continue
        entry = references.entry(exercise.id)
        own = {each.name for each in course.variants if each.exercise == exercise.id}
        if entry["calls"] != exercise.digest or not own.issubset(entry["rows"]):
            path = course.assignment.folder / PACKAGE
            raise ReferencesError(f"{references.path} is older than {path}; {again()}")
