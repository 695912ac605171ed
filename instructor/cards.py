"""The students' editions of the cards: some facts reworded, and no sections for staff."""

import re

STAFF_SECTIONS = ("Regenerating the data", "Training it again")
REWORDED = {
    "data/README.md": (
        (r" \(`instructor/language/grammar\.py`\)", ""),
        (
            r"(\| `test\.txt` \| [\d,]+) lines, half of each label \|",
            r"\1 sentences; your instructor has the labels |",
        ),
    ),
    "checkpoint/README.md": (
        (
            r"by `solution/pretraining\.py` and\s+`solution/optimizer\.py`",
            "by a finished\n`starter/pretraining.py` and `starter/optimizer.py`",
        ),
    ),
}


class CardError(ValueError):
    """A card has changed, so its edition for students cannot be made."""


def _without_sections(text: str) -> str:
    """Remove the sections for staff, each up to the next heading of its level."""
    headings = "|".join(map(re.escape, STAFF_SECTIONS))
    return re.sub(rf"^## (?:{headings})\n.*?(?=^## |\Z)", "", text, flags=re.M | re.S)


def for_students(name: str, text: str) -> str:
    """Return the students' edition of a text.

    Raises:
        CardError: a passage to reword does not occur exactly once.
    """
    for old, new in REWORDED.get(name, ()):
        text, count = re.subn(old, new, text)
        if count != 1:
            raise CardError(f"{name} has {count} matches of {old}, not one; see {__name__}")
    return _without_sections(text).rstrip("\n") + "\n"
