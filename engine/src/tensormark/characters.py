"""Find characters of untrusted text that nobody sees, or that are drawn over other lines."""

import unicodedata
from collections.abc import Iterator, Sequence

# those without ink that Python calls printable: Unicode's Default_Ignorable_Code_Point, and
# Braille without dots
INKLESS = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
INKLESS.update(range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
MOST = 20  # names that a line lists
FEW = 3  # that a message lists
MARKS = 4  # on one letter; more would be drawn over the lines around it


def is_visible(character: str) -> bool:
    """Return whether a character is printable and can be seen; a space counts."""
    return character.isprintable() and ord(character) not in INKLESS


def with_piled_up(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each character, and whether it is one combining mark too many on a letter."""
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        yield character, marks > MARKS


def masked(text: str) -> str:
    """Return a text with a question mark instead of each character that nobody sees."""
    return "".join(c if is_visible(c) else "?" for c in text)


def shown(name: str) -> str:
    """Make an untrusted name or text safe for a message: short, printable, on one line."""
    return masked(name if len(name) <= 80 else f"{name[:60]}...{name[-15:]}")


def first_of(names: Sequence[str], most: int = MOST) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def listed(names: Sequence[str]) -> str:
    """Return the first few of untrusted names for a message, and how many more there are."""
    return first_of(list(map(shown, names)), FEW)
