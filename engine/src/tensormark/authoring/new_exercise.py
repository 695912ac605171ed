"""Write the skeleton of a new exercise: `tensormark exercise NAME [--file FILE] [--before NAME]`.

An exercise is in four places: a file of grader/exercises/, a hole in the solution, a file of
grader/mistakes/, and a block in the handout. The skeleton runs as it is: it asks for a function
that doubles a tensor, and knows two ways to get that wrong and one more to get it right. It comes
last in its file, or before another exercise: in the report, the handout and the solution alike.
Its texts are in the folder skeleton/.

Until references are recorded again it cannot be graded, which costs nobody a point; the other
exercises are graded as before.
"""

import keyword
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template

from tensormark.authoring.variants import region_of
from tensormark.exercise import Assignment, Exercise
from tensormark.files import write_whole
from tensormark.folder import PACKAGE, open_assignment
from tensormark.handout import MAIN
from tensormark.usage import UserError, command, option, parser

SKELETON = Path(__file__).with_name("skeleton")
EXERCISES, MISTAKES = Path(PACKAGE, "exercises"), Path(PACKAGE, "mistakes")
STEP = 10  # between the `order`s of exercises
BONUS = "\n    extension=True,"


def _filled(name: str, values: Mapping[str, object]) -> str:
    """Return a file of the skeleton with its names filled in."""
    return Template((SKELETON / name).read_text(encoding="utf-8")).substitute(values)


def _check(name: str, file: str, assignment: Assignment, bonus: bool) -> None:
    """Check that there can be an exercise of this name in this file.

    A bonus exercise goes in a file that need not be handed in, if there is one.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        given = option("id", name)
        raise UserError(f"{given}: must be a lower-case Python name, such as layer_norm")
    if any(exercise.id == name for exercise in assignment.exercises):
        raise UserError(f"{option('id', name)}: this exercise already exists")
    files = (assignment.editable[1:] if bonus else ()) or assignment.editable
    if file not in files:
        raise UserError(f"{option('file', file)}: must be one of {', '.join(files)}")
    if not (assignment.folder / EXERCISES).is_dir():
        raise UserError(
            f"{EXERCISES}/: there is no such folder; if the exercises are elsewhere, add the new "
            "one by hand"
        )


def _order(assignment: Assignment, previous: Exercise | None, follower: Exercise | None) -> int:
    """Return an `order` that puts an exercise after one and before another."""
    taken = [exercise.order for exercise in assignment.exercises]
    if follower is not None:
        following = follower.order
        before = max((order for order in taken if order < following), default=0)
        fault = f"{option('before', follower.id)}: there is no free `order` before it"
    elif previous is not None:
        before = previous.order
        following = min((order for order in taken if order > before), default=before + 2 * STEP)
        fault = f"{option('file', previous.file)}: there is no free `order` after {previous.id}"
    else:
        return max(taken, default=0) + STEP
    order = (before + following) // 2
    if order in taken or order < 1:
        raise UserError(fault)
    return order


def hole(name: str, source: str) -> str:
    """Return a function with a hole, annotated with the name that a source has for tensors."""
    tensor = ""
    if re.search(r"^import torch$", source, re.MULTILINE):
        tensor = "torch.Tensor"
    elif re.search(r"^from torch import (.*\b)?Tensor\b", source, re.MULTILINE):
        tensor = "Tensor"
    annotated = {"x": f"x: {tensor}" if tensor else "x", "returns": tensor and f" -> {tensor}"}
    return _filled("hole.py.txt", annotated | {"id": name})


def _with_hole(source: str, hole: str, follower: Exercise | None) -> str:
    """Put a function before the function or class of another exercise, or at the end."""
    if follower is None:
        return f"{source}\n\n{hole}"
    begin, _ = region_of(source, follower.id)
    starts = re.finditer(r"^(?:@.*\n)*(?:def|class) ", source[:begin], re.MULTILINE)
    position = [start.start() for start in starts][-1]
    return f"{source[:position]}{hole}\n\n{source[position:]}"


def _with_block(
    pages: Mapping[str, str], block: str, neighbour: Exercise | None, follows: bool
) -> dict[Path, str]:
    """Put a problem before that of another exercise, or after it if `follows`.

    Args:
        neighbour: the other exercise; None: there is none, and the problem comes last.

    Returns: the new text of a page of the handout, by its path.
    """
    if neighbour is None:
        return {Path(MAIN): f"{pages[MAIN].rstrip()}\n\n{block}"}
    pattern = rf"^### Problem \({neighbour.id}\).*?(?=^#{{1,3}} |\Z)"
    for page, text in pages.items():
        if match := re.search(pattern, text, re.MULTILINE | re.DOTALL):
            position = match.end() if follows else match.start()
            gap = "" if text[:position].endswith("\n\n") else "\n"
            return {Path(page): text[:position] + gap + block + text[position:]}
    raise UserError(f"{MAIN}: the new problem goes next to {neighbour.id}, which is missing")


def skeleton(
    assignment: Assignment, name: str, file: str, before: str | None = None, bonus: bool = False
) -> dict[Path, str]:
    """Return the files of a new exercise: path in the folder to new text.

    Args:
        before: the exercise of the same file that it comes before; None puts it last.
        bonus: its points are a bonus.

    Raises:
        UserError: there cannot be such an exercise, or a file of it already exists.
        VariantError: the solution has no region of the exercise that it comes before.
    """
    _check(name, file, assignment, bonus)
    inside = [
        exercise
        for exercise in assignment.exercises
        if exercise.file == file and exercise.task is None
    ]
    follower = next((exercise for exercise in inside if exercise.id == before), None)
    if before and follower is None:
        raise UserError(f"{option('before', before)}: must be one of the exercises in {file}")
    previous = inside[-1] if inside else None
    order = _order(assignment, previous, follower)
    case, mistakes = EXERCISES / f"{name}.py", MISTAKES / f"{name}.py"
    for path in (case, mistakes):
        if (assignment.folder / path).exists():
            raise UserError(f"{path} already exists")
    values = {"id": name, "file": file, "module": file.removesuffix(".py"), "order": order}
    values |= {"bonus": BONUS if bonus else "", "run": command("check", k=name)}
    source = (assignment.solution / file).read_text(encoding="utf-8")
    pages = assignment.handout.read()
    beside = follower or previous or next(iter(reversed(assignment.exercises)), None)
    block = _filled("problem.md.txt", values) + "\n"
    return {
        case: _filled("exercise.py.txt", values),
        Path("solution", file): _with_hole(source, hole(name, source), follower),
        mistakes: _filled("mistakes.py.txt", values),
        **_with_block(pages, block, beside, follows=follower is None),
    }


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write the four files."""
    command_line = parser(name, "Begin an exercise: write a skeleton that runs as it is.")
    command_line.add_argument("id", help="id of the exercise, such as layer_norm")
    last = "file of solution/ for the hole (default: the last file that students edit)"
    command_line.add_argument("--file", help=last)
    where = "exercise of that file to put it before (default: it comes last)"
    command_line.add_argument("--before", metavar="ID", help=where)
    command_line.add_argument("--bonus", action="store_true", help="make its points a bonus")
    options = command_line.parse_args(arguments)
    assignment = open_assignment(folder)
    file = options.file or assignment.editable[-1]
    files = skeleton(assignment, options.id, file, options.before, options.bonus)
    for path, text in files.items():
        write_whole(folder / path, text)
        print(f"wrote {path}")
    later = ", ".join(f"`{command(each)}`" for each in ("starter", "references", "handout"))
    print(f"next: `{command('try', id=options.id)}`, while you write; then {later}")
    return 0
