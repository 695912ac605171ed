"""similar.html: near-identical submissions side by side, for a person to look at.

It has students' names and code, so it is for staff only. Every text is escaped where it becomes an
element (reports/markup.py), and the page needs no script.
"""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

from tensormark.classroom.entry import Entry, number_of
from tensormark.classroom.reports.evidence import (
    GAP,
    MOVED,
    OWN,
    RENAMED,
    SAME,
    Line,
    Rarity,
    Sources,
    side_by_side,
)
from tensormark.classroom.reports.similar import Group, Similar
from tensormark.reports import html
from tensormark.reports.markup import Element, element, say, table

STYLE = Path(__file__).with_name("similar.css")
GROUPS, PAIRS = 50, 5  # that are shown, in all and of one group
ROWS = 20_000  # on the page
LONGEST = 300  # characters of a line
ABOUT = (
    "Rare lines in submissions that are equal or nearly so. Lines in the starter, in known "
    "solutions or in many submissions are left out, as they say nothing. There may be good reasons "
    "for the rest: permitted work in pairs, a common source, help in the lab. This page does not "
    "say who wrote what: ask both students, with their own code in front of them."
)
STAFF = "For staff only: this page has students' names and code."
MARKS = {
    SAME: ("=", "the same"),
    RENAMED: ("≈", "the same except for names and layout"),
    MOVED: ("↕", "elsewhere in the other one"),
    OWN: ("", "only here"),
}
GAPS = "lines left out"


def _code(side: tuple[int, str] | None) -> tuple[Element, Element]:
    number, text = side or ("", "")
    return (
        element("td", number, class_="number"),
        element("td", element("code", say(text.expandtabs(4), LONGEST, keep=" "))),
    )


def _row(line: Line, size: int) -> Element:
    if line.kind == GAP:
        return element("tr", element("td", GAPS, colspan=5), class_="gap")
    mark, meaning = MARKS[line.kind]
    sign = element("span", mark, role="img", aria_label=meaning) if mark else None
    holders = element("small", f"{line.holders} of {size}", class_="often")
    middle = element("td", sign, " " if sign else None, holders, class_="middle")
    return element("tr", *_code(line.left), middle, *_code(line.right), class_=line.kind)


def _table(name: str, owners: Sequence[str], lines: Sequence[Line], size: int) -> Element:
    first, second = owners
    heads = (
        element("th", element("span", first, class_="name"), scope="col", colspan=2),
        "have it",
        element("th", element("span", second, class_="name"), scope="col", colspan=2),
    )
    counts = {kind: sum(line.kind == kind for line in lines) for kind in (SAME, RENAMED)}
    caption = (
        f"{name}.py: {number_of(counts[SAME], 'line')} the same, {counts[RENAMED]} more except "
        "for names and layout"
    )
    rows = (_row(line, size) for line in lines)
    pair = table(heads, rows, caption, class_="pair")
    label = f"{name}.py of {first} and {second}"
    return element("div", pair, class_="scroll", tabindex=0, role="region", aria_label=label)


class _Evidence:
    """The page while it is written: the submissions, and how many more rows it may have."""

    def __init__(
        self, entries: Sequence[Entry], starter: Sources, known: Sequence[Sources]
    ) -> None:
        by_hand_in = {entry.hand_in.path: entry.sources for entry in entries if entry.sources}
        submissions = list(by_hand_in.values())
        self.entries, self.starter, self.size = entries, starter, len(submissions)
        self.rarity, self.rows = Rarity(submissions, starter, known), ROWS

    def name(self, place: int) -> str:
        return self.entries[place].hand_in.student

    def tables(self, first: int, second: int) -> Iterator[Element]:
        """Yield a table for each file that two students have both changed."""
        left, right = self.entries[first].sources, self.entries[second].sources
        for name in left:
            pair = left[name], right.get(name, "")
            if self.starter.get(name) in pair or not all(pair) or self.rows <= 0:
                continue
            lines = side_by_side(*pair, self.rarity)
            if any(line.kind in (SAME, RENAMED, MOVED) for line in lines):
                lines = lines[: self.rows]
                self.rows -= len(lines)
                yield _table(name, (self.name(first), self.name(second)), lines, self.size)

    def group(self, number: int, group: Group) -> Element:
        """Return a group: who is in it, where they are alike, and neighbours side by side."""
        by_path = {self.entries[place].hand_in.path: place for place in reversed(group.members)}
        places = sorted(by_path.values())
        pairs = list(itertools.pairwise(places))[:PAIRS]
        names = [self.name(place) for place in group.members[:GROUPS]]
        where = ", ".join(group.places[:6])
        same = group.equal or f"{100 * group.share:.0f}% the same"
        tables = [table for pair in pairs for table in self.tables(*pair)]
        hidden = len(places) - 1 - len(pairs)
        return element(
            "section",
            element("h2", f"{number}. {number_of(len(group.members), 'student')}"),
            element("p", element("span", ", ".join(names), class_="name")),
            element("p", f"{same}, in {where}", class_="about"),
            *tables,
            None if tables else element("p", "No line is rare enough to be shown."),
            element("p", f"and {number_of(hidden, 'pair')} more") if hidden else None,
            id=f"group-{number}",
        )


def page(
    entries: Sequence[Entry], similar: Similar, starter: Sources, known: Sequence[Sources]
) -> str:
    """Return the page.

    Args:
        similar: the groups; their members are indices of entries.
        starter: the code that students were given, module name to text; known: the same of
            solutions that anybody may resemble.
    """
    evidence = _Evidence(entries, starter, known)
    shown = similar.groups[:GROUPS]
    groups = [evidence.group(number, group) for number, group in enumerate(shown, 1)]
    more = len(similar.groups) - len(shown)
    rest = f"and {number_of(more, 'group')} more, listed in gradebook.html" if more else None
    legend = (
        element("li", element("b", mark, aria_hidden="true"), " ", meaning)
        for mark, meaning in MARKS.values()
        if mark
    )
    body = element(
        "main",
        element("h1", "Near-identical submissions, side by side"),
        element("p", element("b", STAFF)),
        element("p", ABOUT, class_="about"),
        element("ul", *legend, class_="legend"),
        *groups,
        element("p", rest) if rest else None,
    )
    return html.document("Near-identical submissions", body, STYLE)
