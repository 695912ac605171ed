"""The handout's headings, and the anchors by which a page links to them."""

import re
from collections.abc import Iterable
from pathlib import Path

HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
PROBLEM = re.compile(r"Problem \(\w+\)")
QUOTED = re.compile(r'"([^"]{1,80})"')
POINTER = "read: "  # how a line of a report begins that says where to read
Sections = tuple[tuple[str, str], ...]  # titles, and the anchors of their headings


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(path: Path) -> dict[str, str]:
    """Return the anchors of a handout's headings, also by "Problem (id)"; {} if it is missing."""
    try:
        headings = HEADING.findall(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return {}
    found = {heading: slug(heading) for heading in headings}
    problems = {m[0]: slug(h) for h in headings if (m := PROBLEM.match(h))}
    return found | problems


def sections(known: dict[str, str], exercise: str, lines: Iterable[str]) -> Sections:
    """Return the sections that explain an exercise, and those that lines of its report name.

    Args:
        known: the anchors of the handout's headings.
    """
    named = [title for line in lines if line.startswith(POINTER) for title in QUOTED.findall(line)]
    titles = dict.fromkeys([f"Problem ({exercise})", *named])
    return tuple((title, known[title]) for title in titles if title in known)
