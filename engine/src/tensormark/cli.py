"""The command `tensormark`: finds the assignment, and passes the remaining arguments to a command.

    tensormark [-C FOLDER] COMMAND [OPTIONS]

A command is a module with `main(folder, name, arguments)`, which returns the exit status, or raises
a UserError or OSError, whose message is printed. It is imported only when it is called, so that no
command waits for another one's imports.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tensormark.folder import DOCS, AssignmentError, find
from tensormark.usage import NAMED, UserError, near


class Command(NamedTuple):
    """One command."""

    module: str
    summary: str
    needs_folder: bool = True


COMMANDS = {
    "check": Command("grade", "grade a submission without its training"),
    "grade": Command("grade", "grade a submission"),
    "report": Command("grade", "grade a submission, and write a page with figures"),
    "watch": Command("watch", "check again each time a file is saved"),
    "debug": Command("debug", "run a failing call in a debugger"),
    "viva": Command("viva.practice", "answer questions about your own functions"),
    "submit": Command("submit", "pack the files to hand in, and grade the zip"),
    "convert": Command("reports.convert", "write a result for another program", False),
    "new": Command("authoring.new", "start an assignment in a new folder", False),
    "exercise": Command("authoring.new_exercise", "start an exercise"),
    "starter": Command("authoring.strip", "derive starter/ from solution/"),
    "references": Command("authoring.record", "record the right answers"),
    "try": Command("authoring.prove", "try one exercise, with its known mistakes"),
    "prove": Command("authoring.prove", "prove that each mistake is named, and right code passes"),
    "threshold": Command("authoring.threshold", "measure a task over seeds and known mistakes"),
    "handout": Command("authoring.handout", "write the handout's tables of points"),
    "release": Command("release.students_zip", "build the students' zip"),
    "class": Command("classroom.grade_class", "grade a class"),
    "gradescope": Command("gradescope.autograder_zip", "build Gradescope's autograder"),
    "autograder": Command("gradescope.autograder", "grade on Gradescope, in its container"),
}


# packages that some commands need, to the extra that has them; see pyproject.toml
EXTRAS = dict.fromkeys(("yaml", "dask", "distributed"), "class") | dict.fromkeys(
    ("markdown_it", "mdit_py_plugins", "latex2mathml"), "handout"
)


def _overview() -> str:
    lines = [f"  {name:<11} {command.summary}" for name, command in COMMANDS.items()]
    head = "usage: tensormark [-C FOLDER] COMMAND [OPTIONS]"
    about = "FOLDER is an assignment's folder (default: the current folder, or one above it)."
    more = "tensormark COMMAND --help lists a command's options."
    pages = f"Its pages are in {DOCS}."
    return "\n".join([head, "", about, "", *lines, "", more, pages])


def _version() -> str:
    from importlib.metadata import version as installed

    return f"tensormark {installed('tensormark')}"


def _assignment_folder(given_folder: Path | None, helps: bool) -> Path:
    """Return the assignment's folder; any folder will do if only help was requested."""
    try:
        return find(given_folder or Path("."))
    except AssignmentError:
        if helps:
            return Path.cwd()
        raise


def _refused(name: str, error: Exception) -> int:
    from tensormark.sandbox.interface import printable  # here, because not every command needs it

    print(f"{name}: {printable(near(str(error)))}", file=sys.stderr)
    return 2


def run(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Run a command in a folder; return the exit status, after a message if it fails or is ended.

    Its import is covered too: it may take a second, in which Ctrl-C may be pressed.
    """
    try:
        module = importlib.import_module(f"tensormark.{COMMANDS[name].module}")
        return int(module.main(folder, name, arguments))
    except (UserError, OSError) as error:
        return _refused(name, error)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(str(error.name).partition(".")[0])
        if extra is None:
            raise
        fix = f'run `pip install "tensormark[{extra}]"`'
        return _refused(name, UserError(f"the package {error.name} is not installed; {fix}"))
    except KeyboardInterrupt as error:
        print(f"\n{name}: interrupted{f'; {error}' if str(error) else ''}", file=sys.stderr)
        return 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status, which is 2 if nothing could be run."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    given_folder = None
    if words[:1] == ["-C"] and len(words) > 1:
        given_folder = Path(words[1])
        words = words[2:]
    if not words or words[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0 if words else 2
    if words[0] == "--version":
        print(_version())
        return 0
    name, *rest = words
    if name not in COMMANDS:
        print(f"tensormark: there is no command {name!r}; see tensormark --help", file=sys.stderr)
        return 2
    try:
        folder = Path.cwd()
        if COMMANDS[name].needs_folder:
            folder = _assignment_folder(given_folder, "-h" in rest or "--help" in rest)
            if given_folder is not None:
                os.environ[NAMED] = str(given_folder)
        return run(folder, name, rest)
    except AssignmentError as error:
        return _refused(name, error)
    finally:
        os.environ.pop(NAMED, None)
