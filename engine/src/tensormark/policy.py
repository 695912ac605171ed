"""What a submission may not call."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

from tensormark.usage import UserError

Names = tuple[str, ...] | Mapping[str, str]
USUAL = "it is what you are asked to write"


@dataclasses.dataclass(frozen=True)
class Policy:
    """What a submission may not call: full names of functions, classes and modules.

    A dict of names may say what to do instead: {"numpy.sum": "write the loop yourself"}.

    Attributes:
        forbidden: names such as "torch.nn.Conv1d" or "torch.optim".
        given_only: names that only given code may use, in requests that say so; see `Request`.
        section: the heading of the handout that says what is forbidden.
    """

    forbidden: Names = ()
    given_only: Names = ()
    section: str = ""

    def __post_init__(self) -> None:
        """Check the form of the names.

        Raises:
            ValueError: one is not a full name.
        """
        check_names("forbidden", self.forbidden)
        check_names("given_only", self.given_only)


NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
MODULE = re.compile(r"^torch\.nn\.(functional\.)?")  # which students call nn, or F


def check_names(field: str, names: Names) -> None:
    """Check that names have the form of full names; whether they exist is known in the worker.

    Args:
        field: where they are listed.

    Raises:
        ValueError: one has another form, or what is said of it is no sentence.
    """
    if isinstance(names, str):
        raise ValueError(f"{field} is a tuple of names, such as ({names!r},)")
    for name in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError(f"{field} has {name!r}, which is not a full name such as 'numpy.dot'")
    for name, says in reasons(names).items():
        if not isinstance(says, str) or not says.strip() or not says.isprintable():
            raise ValueError(f"{field}: say in a line what to do instead of {name}, not {says!r}")


def reasons(*groups: Names) -> dict[str, str]:
    """Return what is said of forbidden names, by the names in messages; the last group counts."""
    said: dict[str, str] = {}
    for names in groups:
        said |= names if isinstance(names, Mapping) else dict.fromkeys(names, USUAL)
    usual = usual_names(said)
    return {usual[name]: says for name, says in said.items()}


def rules_of(folder: Path, policy: Policy, by_exercise: Mapping[str, Names]) -> dict[str, str]:
    """Return the full names in libraries that are forbidden anywhere, to the files that list them.

    Args:
        folder: the assignment's.
        by_exercise: what each exercise forbids.

    Raises:
        UserError: a name in a given file is forbidden, but not defined there.
    """
    rules = dict.fromkeys([*policy.forbidden, *policy.given_only], "grader/assignment.py")
    for exercise, names in by_exercise.items():
        file = f"grader/exercises/{exercise}.py"
        where = file if (folder / file).is_file() else "grader/assignment.py"
        rules = dict.fromkeys(names, where) | rules
    for path, where in list(rules.items()):
        module, _, name = path.partition(".")
        given = folder / "starter" / f"{module}.py"
        if given.is_file():
            definition = rf"^((async )?def|class) {name.partition('.')[0]}\b"
            if not name or re.search(definition, given.read_text("utf-8"), re.MULTILINE):
                del rules[path]
            elif find_spec(module) is None:  # else a student's file has the name of a package
                wrong = f"starter/{given.name} does not define {name}, which {where} forbids"
                raise UserError(f"{wrong}: restore the file, or correct the name")
    return rules


def usual_names(paths: Iterable[str]) -> dict[str, str]:
    """Return full names to what students write, such as F.x for torch.nn.functional.x."""
    return {path: MODULE.sub(lambda match: "F." if match[1] else "nn.", path) for path in paths}
