"""Find combining marks in untrusted text that are piled up higher than in any language."""

import unicodedata
from collections.abc import Iterator

MARKS = 4  # on one letter; more would be drawn over the lines around it


def with_piled_up(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each letter, and whether it is a combining mark beyond the few allowed on a letter."""
    marks = 0
    for letter in text:
        marks = marks + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        yield letter, marks > MARKS
