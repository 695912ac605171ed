"""Write a checkpoint's numbers into the handout's diagrams: `python -m instructor.figures`.

The diagrams, handout/pictures/*.svg, are edited by hand. A <text> that shows a number of the
checkpoint says which: data-id="dull" is that token's id, data-size="vocab_size" a size of
config.json.
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from instructor import ROOT
from tensormark.files import write_whole

SHOWN = re.compile(r'(<text [^>]*\bdata-(id|size)="([^"]*)"[^>]*>[^<\d]*)\d+')


class FigureError(ValueError):
    """A diagram shows a number that the checkpoint does not have."""


def _numbers(checkpoint: Path) -> dict[tuple[str, str], int]:
    tokens = (checkpoint / "vocab.txt").read_text(encoding="utf-8").split("\n")
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    sizes = {("size", name): size for name, size in config.items() if type(size) is int}
    return {("id", token): number for number, token in enumerate(tokens)} | sizes


def _renumbered(svg: str, numbers: dict[tuple[str, str], int]) -> str:
    def replacement(match: re.Match[str]) -> str:
        before, kind, name = match.groups()
        if (kind, name) not in numbers:
            raise FigureError(f"the checkpoint has no {kind} of {name!r}; edit the diagram")
        return f"{before}{numbers[kind, name]}"

    return SHOWN.sub(replacement, svg)


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Write the diagrams whose numbers differ, or with --check only name them."""
    parser = argparse.ArgumentParser(prog="figures", description="Update the handout's diagrams.")
    about = "write nothing; fail if a diagram is out of date"
    parser.add_argument("--check", action="store_true", help=about)
    check = parser.parse_args(arguments).check
    paths = sorted((root / "handout" / "pictures").glob("*.svg"))
    drifted = {}
    try:
        numbers = _numbers(root / "checkpoint")
        for path in paths:
            old = path.read_text(encoding="utf-8")
            new = _renumbered(old, numbers)
            if new != old:
                drifted[path] = new
    except (FigureError, OSError) as error:
        print(f"figures: {error}", file=sys.stderr)
        return 2
    if check and drifted:
        names = ", ".join(path.name for path in drifted)
        print(f"{names}: numbers differ from the checkpoint's; run `make figures`", file=sys.stderr)
        return 1
    for path, new in drifted.items():
        write_whole(path, new)
    print(f"wrote {len(drifted)} of {len(paths)} diagrams; the others are up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
