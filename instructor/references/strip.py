"""Derive the starter from the solution (`make starter`).

    python -m instructor.references.strip [--check]

    ### BEGIN SOLUTION attention
    ...                                  becomes    raise NotImplementedError("attention")
    ### END SOLUTION attention

The comment `# TODO(attention): ...` above a region is kept. Nested, unclosed, stray and misnamed
markers are errors, as is a region without its TODO.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.assignment import MINBERT
from grader.exercise import Assignment
from grader.files import write_whole

MARKER = re.compile(r"^(?P<indent>\s*)### (?P<kind>BEGIN|END) SOLUTION\b *(?P<id>.*?)\s*$")


class MarkerError(ValueError):
    """Markers that do not pair up; the message gives file:line."""


def strip(text: str, name: str) -> str:
    """Replace each marked region with one line that raises NotImplementedError.

    Args:
        text: a source of solution/.
        name: its file name, for messages.

    Raises:
        MarkerError: a marker is nested, unclosed, stray, misnamed, or its TODO is missing.
    """
    lines: list[str] = []
    inside, begun = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        marker = MARKER.match(line)
        if marker is None:
            if "SOLUTION" in line and "###" in line:
                raise MarkerError(f"{name}:{number}: this looks like a marker, but is not one")
            if not inside:
                lines.append(line)
            continue
        region = marker["id"]
        if marker["kind"] == "BEGIN":
            if inside:
                raise MarkerError(f"{name}:{number}: {region} begins inside {inside}")
            if not region.isidentifier():
                raise MarkerError(f"{name}:{number}: a region needs a name, got {region!r}")
            if f"# TODO({region}):" not in text:
                raise MarkerError(f"{name}:{number}: {region} has no `# TODO({region}):`")
            inside, begun = region, number
            lines.append(f'{marker["indent"]}raise NotImplementedError("{region}")')
        elif region != inside:
            what = (
                f"{region} ends inside {inside}" if inside else f"{region} ends, but never begins"
            )
            raise MarkerError(f"{name}:{number}: {what}")
        else:
            inside = ""
    if inside:
        raise MarkerError(f"{name}:{begun}: {inside} is never closed")
    return "\n".join(lines) + "\n"


def derive(assignment: Assignment) -> dict[str, str]:
    """Return the starter's files: name to text.

    Raises:
        MarkerError: markers do not pair up. OSError: a file of the solution is missing.
    """
    folder = assignment.folder / "solution"
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
    return {name: strip(text, f"solution/{name}") for name, text in texts.items()}


def drifted(starter: Path, files: dict[str, str]) -> list[str]:
    """List files of a starter that are missing, differ from the derived ones, or are extra."""
    there = {path.name: path for path in starter.glob("*.py")}
    differing = [
        name
        for name, text in files.items()
        if name not in there or there[name].read_bytes() != text.encode()
    ]
    return sorted(differing + [name for name in there if name not in files])


def write_starter(starter: Path, files: dict[str, str], names: Sequence[str]) -> None:
    """Write or remove the files of these names."""
    for name in names:
        if name not in files:
            (starter / name).unlink()
            print(f"removed starter/{name}")
            continue
        write_whole(starter / name, files[name])
        print(f"wrote starter/{name}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write starter/, or with --check only compare."""
    parser = argparse.ArgumentParser(prog="strip", description="Derive starter/ from solution/.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail on drift")
    check = parser.parse_args(arguments).check
    try:
        files = derive(MINBERT)
    except (MarkerError, OSError) as error:
        print(f"strip: {error}", file=sys.stderr)
        return 2
    names = drifted(MINBERT.starter, files)
    if check:
        for name in names:
            print(
                f"starter/{name} is out of date with solution/; run `make starter`", file=sys.stderr
            )
        return 1 if names else 0
    write_starter(MINBERT.starter, files, names)
    if not names:
        print("starter/ is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
