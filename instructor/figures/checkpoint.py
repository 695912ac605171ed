"""What the figures show of the frozen checkpoint: its sizes, and ids of words."""

import json
from dataclasses import dataclass
from pathlib import Path

from instructor.figures.svg import FigureError


@dataclass(frozen=True)
class Checkpoint:
    """Sizes and vocabulary of a checkpoint.

    Attributes:
        sizes: the numbers of its config.json.
        tokens: its vocabulary, in the order of the ids.
    """

    sizes: dict[str, int]
    tokens: tuple[str, ...]

    def ids(self, tokens: tuple[str, ...]) -> list[int]:
        """Return the ids of tokens.

        Raises:
            FigureError: one is not in the vocabulary.
        """
        if unknown := [token for token in tokens if token not in self.tokens]:
            raise FigureError(f"the vocabulary has no {unknown[0]!r}; choose another word")
        return [self.tokens.index(token) for token in tokens]


def checkpoint(folder: Path) -> Checkpoint:
    """Read what the figures need of a checkpoint."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    sizes = {name: value for name, value in config.items() if type(value) is int}
    return Checkpoint(sizes, tuple((folder / "vocab.txt").read_text("utf-8").split("\n")))
