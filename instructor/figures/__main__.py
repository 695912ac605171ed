"""Draw the handout's diagrams: `python -m instructor.figures [--check]` (`make figures`)."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from instructor import ROOT
from instructor.figures.attention import heads, mask
from instructor.figures.by_hand import by_hand
from instructor.figures.checkpoint import Checkpoint, checkpoint
from instructor.figures.further import decoder, norms, pretraining
from instructor.figures.model import embedding, layer, whole_model
from instructor.figures.svg import FigureError
from tensormark.files import write_whole

FIGURES: dict[str, Callable[[Checkpoint], str]] = {
    "model": whole_model,
    "embedding": embedding,
    "mask": mask,
    "attention-by-hand": by_hand,
    "heads": heads,
    "layer": layer,
    "norms": norms,
    "decoder": decoder,
    "pretraining": pretraining,
}


def drawn(root: Path) -> dict[Path, str]:
    """Return the SVG of every figure, by its file.

    Raises:
        FigureError, OSError: one cannot be drawn, or there is no checkpoint.
    """
    known = checkpoint(root / "checkpoint")
    return {root / "pictures" / f"{name}.svg": draw(known) for name, draw in FIGURES.items()}


def same(path: Path, text: str) -> bool:
    """Say whether a file has this text."""
    return path.is_file() and path.read_bytes() == text.encode()


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Write the figures, or with --check only compare."""
    parser = argparse.ArgumentParser(prog="figures", description="Draw the handout's diagrams.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail on drift")
    check = parser.parse_args(arguments).check
    try:
        figures = drawn(root)
    except (FigureError, OSError) as error:
        print(f"figures: {error}", file=sys.stderr)
        return 2
    old = [path for path, svg in figures.items() if not same(path, svg)]
    if check and old:
        names = ", ".join(path.name for path in old)
        print(f"{names}: not what the code draws; run `make figures`", file=sys.stderr)
        return 1
    for path in old:
        write_whole(path, figures[path])
    print(f"wrote {len(old)} of {len(figures)} diagrams; the others are up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
