"""Derive the starter from the solution: `tensormark starter`.

    ### BEGIN SOLUTION conv
    ...                                  becomes    raise NotImplementedError("conv")
    ### END SOLUTION conv

The comment `# TODO(conv): ...` above a region stays. Nested, unclosed, stray and misnamed markers
are errors, and so is a region without its TODO.

A file of starter/ in which somebody has filled a hole is not overwritten, and none is deleted.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import python_files, write_whole
from tensormark.folder import open_assignment
from tensormark.usage import UserError, command, parser

STUB = 'raise NotImplementedError("{}")'
TODO = "# TODO({}):"
MARKER = re.compile(r"^.*###.*\bSOLUTION\b.*$", re.MULTILINE)
REGION = re.compile(
    r"^( *)### BEGIN SOLUTION (\w+)\n(?:(?!.*### (?:BEGIN|END) SOLUTION).*\n)*"
    r" *### END SOLUTION \2$",
    re.MULTILINE,
)


def strip(text: str, name: str) -> str:
    """Replace each marked region with one line that raises NotImplementedError.

    Raises:
        UserError: a marker is nested, unclosed, stray or misnamed, or a TODO is missing.
    """
    for region in REGION.finditer(text):
        if TODO.format(region[2]) not in text:
            raise UserError(f"{name}: {region[2]} has no `{TODO.format(region[2])}`")
    rest = REGION.sub(lambda region: "\n" * region[0].count("\n"), text)  # the lines keep numbers
    stray = MARKER.search(rest)
    if stray is not None:
        line = rest.count("\n", 0, stray.start()) + 1
        raise UserError(
            f"{name}:{line}: `{stray[0].strip()}` is nested, has no partner or is misspelt; around "
            "a region stand `### BEGIN SOLUTION id` and `### END SOLUTION id`"
        )
    return REGION.sub(lambda region: region[1] + STUB.format(region[2]), text)


def derive(assignment: Assignment) -> dict[str, str]:
    """Return the starter's files: name to text.

    Raises:
        UserError: markers do not pair up. OSError: a file of the solution is missing.
    """
    folder = assignment.solution
    if not (folder / assignment.main_file).is_file():  # or all of starter/ would count as extra
        raise FileNotFoundError(f"there is no {folder.name}/{assignment.main_file} to derive from")
    return {
        name: strip(path.read_text(encoding="utf-8"), f"solution/{name}")
        for name, path in python_files(folder).items()
    }


def drifted(starter: Path, files: dict[str, str]) -> list[str]:
    """List files of a starter that are missing, differ from the derived ones, or are extra."""
    existing = python_files(starter)
    differing = [
        name
        for name, text in files.items()
        if name not in existing or existing[name].read_bytes() != text.encode()
    ]
    return sorted(differing + [name for name in existing if name not in files])


def _require_no_work(starter: Path, files: dict[str, str]) -> None:
    """Check that nobody's work in a starter would be overwritten.

    Raises:
        UserError: a hole is filled there, or a file has no counterpart in the solution.
    """
    for name in drifted(starter, files):
        path = starter / name
        if name not in files:
            raise UserError(
                f"{path}: there is no such file in solution/; delete it, or move it away"
            )
        before = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        for region in re.findall(r'NotImplementedError\("(\w+)"\)', files[name]):
            if TODO.format(region) in before and STUB.format(region) not in before:
                raise UserError(
                    f"{path}: {region} is written there, and would be overwritten; to start over, "
                    "delete the file"
                )


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write starter/, or with --check only compare."""
    command_line = parser(name, "Derive starter/ from solution/.")
    about = "write nothing; fail if a file is out of date"
    command_line.add_argument("--check", action="store_true", help=about)
    check = command_line.parse_args(arguments).check
    assignment = open_assignment(folder)
    try:
        files = derive(assignment)
    except UnicodeDecodeError as error:
        raise UserError(str(error)) from error
    names = drifted(assignment.starter, files)
    if check:
        for file in names:
            fix = f"run `{command('starter')}`"
            print(f"starter/{file} is out of date with solution/; {fix}", file=sys.stderr)
        return 1 if names else 0
    _require_no_work(assignment.starter, files)
    for file in names:
        write_whole(assignment.starter / file, files[file])
        print(f"wrote starter/{file}")
    if not names:
        print("starter/ is up to date")
    return 0
