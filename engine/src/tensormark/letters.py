"""Which letters of an untrusted text are combining marks piled up higher than any language does."""

import unicodedata
from collections.abc import Iterator

MARKS = 4  # on one letter; more of them would be drawn over the lines around it


def with_piled_up(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each letter, and whether it is a combining mark beyond the few that may follow one."""
    marks = 0
    for letter in text:
        marks = marks + 1 if unicodedata.category(letter) in ("Mn", "Me") else 0
        yield letter, marks > MARKS
