"""Begin an assignment in a new folder: `tensormark new NAME`.

The command copies the folder tensormark/template and fills in the name: an assignment that runs as
it is, with two exercises, a training, known mistakes and a handout. It then derives the starter and
the references, as after any other change.
"""

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from tensormark.authoring import record, strip
from tensormark.files import whole_folder, write_whole
from tensormark.folder import DEFINITION
from tensormark.usage import UserError, command, parser

TEMPLATE = Path(__file__).resolve().parents[1] / "template"
NAME = re.compile(r"\w[\w .-]{0,60}")
# where the template has its name, by file
NAMED = {DEFINITION: 'name="Detector"', "handout.md": "# Detector\n"}


def write(path: Path) -> None:
    """Write a new assignment, all of it or nothing.

    Raises:
        UserError: it cannot have this name. FileExistsError: the path already exists.
    """
    if not NAME.fullmatch(path.name):
        raise UserError(
            f"{path}: in the name, which is also the assignment's, use letters, digits, spaces, "
            "dots and hyphens"
        )
    with whole_folder(path) as unfinished:
        for source in TEMPLATE.rglob("*"):
            if not source.is_file() or "__pycache__" in source.parts:
                continue
            file = source.relative_to(TEMPLATE).as_posix()
            text = source.read_text(encoding="utf-8")
            if file in NAMED:
                old = NAMED[file]
                assert text.count(old) == 1, f"{file} does not say {old!r} once"
                text = text.replace(old, old.replace("Detector", path.name))
            write_whole(unfinished / file, text)


def _next_steps(path: Path) -> str:
    steps = {
        f"cd {shlex.quote(str(path))}": "",
        command("check", submission="solution"): "grade the solution; the starter without a name",
        command("prove"): "prove that each mistake is named, and costs only its exercise",
        command("exercise", id="NAME"): "begin another exercise",
    }
    width = max(map(len, steps))
    lines = [f"{step:{width}}  {about}".rstrip() for step, about in steps.items()]
    return "next: " + "\n      ".join(lines)


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write an assignment, and derive its starter and its references."""
    command_line = parser(name, "Begin an assignment in a new folder; it runs as it is.")
    command_line.add_argument("name", type=Path, help="name of the folder and the assignment")
    path = command_line.parse_args(arguments).name
    write(path)
    print(f"wrote {path}")
    status = 2
    try:
        status = strip.main(path, "starter", []) or record.main(path, "references", [])
    finally:
        if status:
            print(f"{name}: {path} was written, but not all derived files", file=sys.stderr)
    if not status:
        print(_next_steps(path))
    return status
