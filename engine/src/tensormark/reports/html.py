"""The page of a result: report.html, as report.html.j2 writes it."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from tensormark.reports import pages
from tensormark.reports.figures import curve, difference_map
from tensormark.reports.model import Model, headline, next_step, shown_exercises, ungraded
from tensormark.reports.text import visible
from tensormark.result import Outcome

# the class of each outcome on the page, and the mark before the word
MARKS = {
    Outcome.PASSED: ("passed", "✓"),
    Outcome.FAILED: ("failed", "✗"),
    Outcome.NOT_WRITTEN: ("unwritten", "○"),
    Outcome.BLOCKED: ("blocked", "…"),
    Outcome.COULD_NOT_GRADE: ("ungraded", "?"),
}
CHIP = Markup('<span class="chip {}"><span aria-hidden="true">{}</span>{}</span>')
FORMS = (".html", ".md")  # formats of the handout's pages, the better one first
HANDOUT = re.compile(r"handout(/[\w-]+)?\.md")


class HandoutLinks(NamedTuple):
    """Where the page finds the handout that it links to.

    Attributes:
        folder: path from the page's folder, empty or ending in a slash.
        forms: the available formats; if there are none, the page has no links.
    """

    folder: str
    forms: Sequence[str]


HANDOUT_BESIDE_PAGE = HandoutLinks("", FORMS)
NO_HANDOUT = HandoutLinks("", ())


def chip(outcome: str) -> Markup:
    """Return an outcome as a word, with a mark and a colour."""
    name, mark = MARKS[Outcome(outcome)]
    return CHIP.format(name, mark, outcome)


def _handout_page(section: Model) -> str:
    """Return the page that a section is on, without the suffix of its format."""
    page = str(section.get("page"))
    return page.removesuffix(".md") if HANDOUT.fullmatch(page) else "handout"


def _worst_place(excerpt: Model) -> str:
    """Say where the values of the table are from, and how much they may differ."""
    row = excerpt["row"]
    axes = [visible(axis, 40) for axis in excerpt["axes"]] or ["value"]
    place = ", ".join(f"{axis} {n}" for axis, n in zip(axes, row["index"], strict=False))
    words = f"Worst at {place}" if place else "The values"
    if len(row["expected"]) != row["length"]:
        words += f", {len(row['expected'])} of {row['length']} values"
    allowed = excerpt["worst"]["allowed"]
    return words if isinstance(allowed, str) else f"{words}; limit {allowed:.0e}"


def _short(value: float | str) -> str:
    """Return a value of a table; one that rounds to zero has no sign."""
    return value if isinstance(value, str) else f"{value:z.4f}"


def _curves(measured: Model) -> list[Any]:
    return [drawn for drawn in map(curve, measured["curves"]) if drawn]


def _misread(confusion: Sequence[Sequence[int]]) -> int:
    """Return how many predictions are wrong."""
    return sum(sum(counts) - counts[right] for right, counts in enumerate(confusion))


def page(result: Model, handout: HandoutLinks = HANDOUT_BESIDE_PAGE) -> str:
    """Return the page of a result."""
    exercises = shown_exercises(result)
    return pages.page(
        f"{result['assignment']}: {result['name']}",
        pages.TEMPLATES / "report.html.j2",
        result=result,
        exercises=exercises,
        hidden=len(result["exercises"]) - len(exercises),
        ungraded=ungraded(result),
        next_step=next_step(result),
        handout=handout,
        chip=chip,
        headline=headline,
        handout_page=_handout_page,
        map_of=difference_map,
        worst_place=_worst_place,
        short=_short,
        curves_of=_curves,
        misread=_misread,
    )
