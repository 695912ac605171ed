"""Begin an assignment in a new folder: `tensormark new NAME`.

The command copies the folder tensormark/template and fills in the name: an assignment that runs as
it is, with two exercises, a training, known mistakes and a handout. With `--numpy` most of it is
from tensormark/template_numpy: exercises on arrays of numpy, and on plain Python values. It then
derives the starter and the references, as after any other change.
"""

import re
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from tensormark.authoring import record, strip
from tensormark.files import whole_folder, write_whole
from tensormark.folder import DEFINITION, PACKAGE
from tensormark.usage import UserError, command, parser

TEMPLATE = Path(__file__).resolve().parents[1] / "template"
NUMPY = TEMPLATE.with_name("template_numpy")
NAME = re.compile(r"\w[\w .-]{0,60}")
# where the template has its name, by file
NAMED = {DEFINITION: 'name="{}"', "handout.md": "# {}\n"}
# of both templates
COMMON = (".gitignore", *(f"{PACKAGE}/{name}__init__.py" for name in ("", "exercises/", "honest/")))


def _files(template: Path) -> dict[str, Path]:
    """Return the files of a template, by their paths in it."""
    files = [path for path in template.rglob("*") if path.is_file()]
    return {
        path.relative_to(template).as_posix(): path
        for path in files
        if "__pycache__" not in path.parts
    }


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
    files = _files(TEMPLATE)
    if numpy:
        files = {name: files[name] for name in COMMON} | _files(NUMPY)
    with whole_folder(path) as unfinished:
        for file, source in files.items():
            text = source.read_text(encoding="utf-8")
            if file in NAMED:
                old = NAMED[file].format("Clusters" if numpy else "Detector")
                assert text.count(old) == 1, f"{file} does not say {old!r} once"
                text = text.replace(old, NAMED[file].format(path.name))
            engine = f'engine="{version("tensormark").rpartition(".")[0]}"'
            text = text.replace('engine=""', engine)
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
