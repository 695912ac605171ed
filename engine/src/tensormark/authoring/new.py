"""Begin an assignment in a new folder: `tensormark new NAME`.

The command copies the folder tensormark/template and fills in the name: an assignment that runs as
it is, with two exercises, a training, known mistakes and a handout. With `--numpy` the folder is
tensormark/template_numpy: exercises on arrays of numpy, and on plain Python values. It then derives
the starter and the references, as after any other change.
"""

import re
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from tensormark.authoring import record, strip
from tensormark.files import whole_folder, write_whole
from tensormark.folder import DEFINITION
from tensormark.handout import MAIN
from tensormark.release.given_out import fitting
from tensormark.usage import UserError, command, parser

TEMPLATE = Path(__file__).resolve().parents[1] / "template"
NUMPY = TEMPLATE.with_name("template_numpy")
NAME = re.compile(r"\w[\w .-]{0,60}")
NAMED = (DEFINITION, MAIN)  # which have the name of the template, for the first time there


def write(path: Path, numpy: bool = False) -> None:
    """Write a new assignment, all of it or nothing.

    Args:
        numpy: without torch.

    Raises:
        UserError: it cannot have this name. FileExistsError: the path already exists.
    """
    if not NAME.fullmatch(path.name):
        raise UserError(
            f"{path}: in the name, which is also the assignment's, use letters, digits, spaces, "
            "dots and hyphens"
        )
    name, template = ("Clusters", NUMPY) if numpy else ("Detector", TEMPLATE)
    engine = f'engine="{version("tensormark").rpartition(".")[0]}"'
    with whole_folder(path) as unfinished:
        for source in fitting(template, "**/*"):
            file = source.relative_to(template)
            text = source.read_text(encoding="utf-8").replace('engine=""', engine)
            if file.as_posix() in NAMED:
                text = text.replace(name, path.name, 1)
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
    about = "use arrays of numpy and plain Python values, without torch"
    command_line.add_argument("--numpy", action="store_true", help=about)
    options = command_line.parse_args(arguments)
    path = options.name
    write(path, options.numpy)
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
