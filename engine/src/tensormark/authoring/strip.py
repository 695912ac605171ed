"""Derive the starter from the solution: `tensormark starter`.

    ### BEGIN SOLUTION conv
    ...                                  becomes    raise NotImplementedError("conv")
    ### END SOLUTION conv

The comment `# TODO(conv): ...` above a region stays. Nested, unclosed, stray and misnamed markers
are errors, and so is a region without its TODO.

A file that somebody has edited, or put into starter/, is not overwritten: its digest is neither in
the manifest nor in the list of files that were last written here. With --force it is copied first.
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tensormark.exercise import Assignment
from tensormark.files import digest, free_path, write_whole
from tensormark.folder import open_assignment
from tensormark.folders import whole_folder
from tensormark.intake.texts import is_given
from tensormark.usage import UserError, command, parser

WRITTEN = Path("runs") / "starter.json"  # the files last written, in the form of the manifest
MARKER = re.compile(r"^(?P<indent>\s*)### (?P<kind>BEGIN|END) SOLUTION\b *(?P<id>.*?)\s*$")


def strip(text: str, name: str) -> str:
    """Replace each marked region with one line that raises NotImplementedError.

    Raises:
        UserError: a marker is nested, unclosed, stray or misnamed, or a TODO is missing.
    """
    lines: list[str] = []
    inside, begun = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        marker = MARKER.match(line)
        if marker is None:
            if "SOLUTION" in line and "###" in line:
                raise UserError(f"{name}:{number}: this looks like a marker, but is not one")
            if not inside:
                lines.append(line)
            continue
        region = marker["id"]
        if marker["kind"] == "BEGIN":
            if inside:
                raise UserError(f"{name}:{number}: {region} begins inside {inside}")
            if not region.isidentifier():
                raise UserError(f"{name}:{number}: a region needs a name, got {region!r}")
            if f"# TODO({region}):" not in text:
                raise UserError(f"{name}:{number}: {region} has no `# TODO({region}):`")
            inside, begun = region, number
            lines.append(f'{marker["indent"]}raise NotImplementedError("{region}")')
        elif region != inside:
            fault = f"ends inside {inside}" if inside else "ends, but never begins"
            raise UserError(f"{name}:{number}: {region} {fault}")
        else:
            inside = ""
    if inside:
        raise UserError(f"{name}:{begun}: {inside} is never closed")
    return "\n".join(lines) + "\n"


def derive(assignment: Assignment) -> dict[str, str]:
    """Return the starter's files: name to text.

    Raises:
        UserError: markers do not pair up. OSError: a file of the solution is missing.
    """
    folder = assignment.solution
    if not (folder / assignment.main_file).is_file():  # or all of starter/ would count as extra
        raise FileNotFoundError(f"there is no {folder.name}/{assignment.main_file} to derive from")
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
    return {name: strip(text, f"solution/{name}") for name, text in texts.items()}


def drifted(starter: Path, files: dict[str, str]) -> list[str]:
    """List files of a starter that are missing, differ from the derived ones, or are extra."""
    existing = {path.name: path for path in starter.glob("*.py")}
    differing = [
        name
        for name, text in files.items()
        if name not in existing or existing[name].read_bytes() != text.encode()
    ]
    return sorted(differing + [name for name in existing if name not in files])


def _known_digests(assignment: Assignment) -> dict[str, set[str]]:
    """Return the digests of the starter's files, by name: as recorded, and as last written here."""
    by_name: dict[str, set[str]] = {}
    for path in (Path("reference_outputs") / "manifest.json", WRITTEN):
        try:
            digests = json.loads((assignment.folder / path).read_text(encoding="utf-8"))["starter"]
            for name, expected in digests.items():
                by_name.setdefault(name, set()).add(expected)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            continue  # then the files that it lists count as edited
    return by_name


def _edited(assignment: Assignment, names: Sequence[str]) -> list[str]:
    digests = _known_digests(assignment)
    paths = {name: assignment.starter / name for name in names}
    contents = {name: path.read_bytes() for name, path in paths.items() if path.exists()}
    return [
        name
        for name, content in contents.items()
        if not any(is_given(content, expected) for expected in digests.get(name, ()))
    ]


def _keep_copies(starter: Path, names: Sequence[str]) -> Path:
    folder = free_path(starter.with_name(f"{starter.name}.backup"))
    with whole_folder(folder) as unfinished:
        for name in names:
            write_whole(unfinished / name, (starter / name).read_bytes())
    return folder


def write_starter(starter: Path, files: dict[str, str], names: Sequence[str]) -> None:
    """Write or remove the files of these names."""
    for name in names:
        if name not in files:
            (starter / name).unlink()
            print(f"removed starter/{name}")
            continue
        write_whole(starter / name, files[name])
        print(f"wrote starter/{name}")


def _remember(assignment: Assignment, files: dict[str, str]) -> None:
    """Record what was written, so that the next run does not take it for somebody's work."""
    digests = _known_digests(assignment)
    now = {name: digest(text.encode()) for name, text in files.items()}
    if any(written not in digests.get(name, ()) for name, written in now.items()):
        write_whole(assignment.folder / WRITTEN, json.dumps({"starter": now}, indent=2) + "\n")


def _update(assignment: Assignment, files: dict[str, str], force: bool) -> int:
    """Bring starter/ up to date, unless that would overwrite somebody's work; return the status."""
    names = drifted(assignment.starter, files)
    if work := _edited(assignment, names):
        files_edited = ", ".join(f"starter/{name}" for name in work)
        if not force:
            print(
                f"starter: {files_edited}: edited, would be overwritten; nothing was changed\n"
                f"starter: to start over, `{command('starter', force=True)}`, which keeps a copy",
                file=sys.stderr,
            )
            return 2
        print(f"copied {files_edited} to {_keep_copies(assignment.starter, work).name}/")
    write_starter(assignment.starter, files, names)
    if not names:
        print("starter/ is up to date")
    _remember(assignment, files)
    return 0


def main(folder: Path, name: str, arguments: Sequence[str]) -> int:
    """Write starter/, or with --check only compare."""
    command_line = parser(name, "Derive starter/ from solution/.")
    add = command_line.add_argument
    add("--check", action="store_true", help="write nothing; fail on drift")
    add("--force", action="store_true", help="overwrite edited files, with a copy")
    options = command_line.parse_args(arguments)
    assignment = open_assignment(folder)
    try:
        files = derive(assignment)
    except UnicodeDecodeError as error:
        raise UserError(str(error)) from error
    if not options.check:
        return _update(assignment, files, options.force)
    names = drifted(assignment.starter, files)
    for file in names:
        fix = f"run `{command('starter')}`"
        print(f"starter/{file} is out of date with solution/; {fix}", file=sys.stderr)
    return 1 if names else 0
