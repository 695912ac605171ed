"""Write the skeleton of a new exercise: `tensormark exercise NAME [--file FILE]`.

An exercise is in four places: a file of grader/exercises/, a hole in the solution, a file of
grader/mistakes/, and a block in the handout. The skeleton runs as it is: it asks for a function
that doubles an array, and knows two ways to get that wrong and one more to get it right. It comes
last in its file, and after that file's other exercises in reports and in the handout. Its texts are
in the folder skeleton/.

Until references are recorded again it cannot be graded, which costs nobody a point; the other
exercises are graded as before.
"""

import keyword
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from tensormark.exercise import Assignment, Exercise
from tensormark.files import write_whole
from tensormark.folder import DEFINITION, PACKAGE, open_assignment
from tensormark.handout import MAIN
from tensormark.usage import UserError, command, option, parser

SKELETON = Path(__file__).with_name("skeleton")
EXERCISES = Path(PACKAGE, "exercises")
MISTAKES = Path(PACKAGE, "mistakes")
BONUS = "\n    extension=True,"
ARRAYS = '\n    arrays="numpy",'
GRADIENT = '\n        "cotangent/output": rng.standard_normal((s.B, s.T, s.D)),'


def _filled(name: str, values: Mapping[str, object]) -> str:
    """Return a file of the skeleton with its names filled in."""
    return Template((SKELETON / name).read_text(encoding="utf-8")).substitute(values)


def _check(name: str, file: str, assignment: Assignment, bonus: bool) -> None:
    """Check that there can be an exercise of this name in this file.

    A bonus exercise goes in a file that need not be handed in, if there is one.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UserError(
            f"{option('id', name)}: must be a lower-case Python name, such as layer_norm"
        )
    if any(exercise.id == name for exercise in assignment.exercises):
        raise UserError(f"{option('id', name)}: this exercise already exists")
    files = (assignment.editable[1:] if bonus else ()) or assignment.editable
    if file not in files:
        fix = f"or add it to `editable` in {DEFINITION}"
        raise UserError(f"{option('file', file)}: must be one of {', '.join(files)}; {fix}")
    if not (assignment.solution / file).is_file():
        raise UserError(f"solution/{file}: there is no such file; create it with its imports")
    if not (assignment.folder / EXERCISES).is_dir():
        raise UserError(
            f"{EXERCISES}/: there is no such folder; if the exercises are elsewhere, add the new "
            "one by hand"
        )


def _with_block(pages: Mapping[str, str], block: str, previous: Exercise | None) -> dict[Path, str]:
    """Put a problem after that of another exercise, or last.

    Returns: the new text of a page of the handout, by its path.
    """
    for page, text in pages.items():
        if previous is None:
            break
        pattern = rf"^### Problem \({previous.id}\).*?(?=^#{{1,3}} |\Z)"
        match = re.search(pattern, text, re.MULTILINE | re.DOTALL)
        if match is not None:
            before = text[: match.end()].rstrip()
            return {Path(page): f"{before}\n\n{block}\n{text[match.end() :]}"}
    return {Path(MAIN): f"{pages[MAIN].rstrip()}\n\n{block}"}


def skeleton(assignment: Assignment, name: str, file: str, bonus: bool = False) -> dict[Path, str]:
    """Return the files of a new exercise: path in the folder to new text.

    Args:
        bonus: its points are a bonus.

    Raises:
        UserError: there cannot be such an exercise, or a file of it already exists.
    """
    _check(name, file, assignment, bonus)
    inside = [each for each in assignment.exercises if each.file == file and each.task is None]
    previous = inside[-1] if inside else None
    case = EXERCISES / f"{name}.py"
    mistakes = MISTAKES / f"{name}.py"
    for path in (case, mistakes):
        if (assignment.folder / path).exists():
            raise UserError(f"{path} already exists")
    last = max((exercise.order for exercise in assignment.exercises), default=0)
    values = {
        "id": name,
        "file": file,
        "order": previous.order + 1 if previous else last + 10,
        "bonus": BONUS if bonus else "",
        "arrays": "" if assignment.uses_torch else ARRAYS,
        "gradient": GRADIENT if assignment.uses_torch else "",
    }
    source = (assignment.solution / file).read_text(encoding="utf-8")
    block = _filled("problem.md.txt", values)
    return {
        case: _filled("exercise.py.txt", values),
        Path("solution", file): f"{source}\n\n{_filled('hole.py.txt', values)}",
        mistakes: _filled("mistakes.py.txt", values),
        **_with_block(assignment.handout.read(), block, previous),
    }


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write the four files."""
    command_line = parser(name, "Begin an exercise: write a skeleton that runs as it is.")
    command_line.add_argument("id", help="id of the exercise, such as layer_norm")
    last = "file of solution/ for the hole (default: the last file that students edit)"
    command_line.add_argument("--file", help=last)
    command_line.add_argument("--bonus", action="store_true", help="make its points a bonus")
    options = command_line.parse_args(arguments)
    assignment = open_assignment(folder)
    file = options.file or assignment.editable[-1]
    files = skeleton(assignment, options.id, file, options.bonus)
    for path, text in files.items():
        write_whole(folder / path, text)
        print(f"wrote {path}")
    later = ", ".join(f"`{command(each)}`" for each in ("starter", "references", "handout"))
    print(f"next: `{command('try', id=options.id)}`, while you write; then {later}")
    return 0
