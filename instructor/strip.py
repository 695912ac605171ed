"""Derive the starter from the solution: `python -m instructor.strip [--check]` (`make starter`).

    ### BEGIN SOLUTION attention
    ...                                  becomes    raise NotImplementedError("attention")
    ### END SOLUTION attention

The comment `# TODO(attention): ...` above a region stays. Nested, unclosed, stray and misnamed
markers are errors, and so is a region without its TODO.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from instructor.files import write_whole

ROOT = Path(__file__).resolve().parent.parent
SOLUTION, STARTER = ROOT / "solution", ROOT / "starter"
STUDENT_FILES = (
    "bert.py",
    "base_bert.py",
    "config.py",
    "utils.py",
    "tokenizer.py",
    "sentences.py",
    "arguments.py",
    "classifier.py",
    "visualize.py",
    "drawing.py",
    "optimizer.py",
    "pretraining.py",
    "transformer.py",
)
MARKER = re.compile(r"^(?P<indent>\s*)### (?P<kind>BEGIN|END) SOLUTION\b *(?P<id>.*?)\s*$")


class MarkerError(ValueError):
    """Markers that do not pair up; the message gives file:line."""


def strip(text: str, name: str) -> str:
    """Replace each marked region by one line that raises NotImplementedError.

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
                raise MarkerError(f"{name}:{number}: this looks like a marker and is not one")
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
                raise MarkerError(
                    f"{name}:{number}: there is no `# TODO({region}):` for the student"
                )
            inside, begun = region, number
            lines.append(f'{marker["indent"]}raise NotImplementedError("{region}")')
        elif region != inside:
            what = f"{region} ends inside {inside}" if inside else f"{region} ends and never began"
            raise MarkerError(f"{name}:{number}: {what}")
        else:
            inside = ""
    if inside:
        raise MarkerError(f"{name}:{begun}: {inside} is never closed")
    return "\n".join(lines) + "\n"


def derive() -> dict[str, str]:
    """Return the starter's files: name to text.

    Raises:
        MarkerError: markers do not pair up. OSError: a file of the solution is missing.
    """
    texts = {name: (SOLUTION / name).read_text(encoding="utf-8") for name in STUDENT_FILES}
    return {name: strip(text, f"solution/{name}") for name, text in texts.items()}


def drifted(files: dict[str, str]) -> list[str]:
    """List files of starter/ that are missing, differ from what was derived, or are too many."""
    there = {path.name: path for path in STARTER.glob("*.py")}
    differing = [
        name
        for name, text in files.items()
        if name not in there or there[name].read_bytes() != text.encode()
    ]
    return sorted(differing + [name for name in there if name not in files])


def main(arguments: Sequence[str] | None = None) -> int:
    """Write starter/, or with --check only compare."""
    parser = argparse.ArgumentParser(prog="strip", description="Derive starter/ from solution/.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail on drift")
    check = parser.parse_args(arguments).check
    try:
        files = derive()
    except (MarkerError, OSError) as error:
        print(f"strip: {error}", file=sys.stderr)
        return 2
    names = drifted(files)
    if check:
        for name in names:
            print(
                f"starter/{name} is not what solution/ gives; run `make starter`", file=sys.stderr
            )
        return 1 if names else 0
    for name in names:
        if name not in files:
            (STARTER / name).unlink()
            print(f"removed starter/{name}")
            continue
        write_whole(STARTER / name, files[name])
        print(f"wrote starter/{name}")
    if not names:
        print("starter/ is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
