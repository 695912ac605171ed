"""A class as gradebook.html shows it, and its table of students with search and filter."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from tensormark.classroom import summary
from tensormark.classroom.entry import Entry, number_of
from tensormark.classroom.reports.feedback import PAGE
from tensormark.classroom.reports.similar import Similar
from tensormark.reports import html
from tensormark.reports.markup import Element, element, joined
from tensormark.reports.text import out_of, points
from tensormark.result import Outcome

LONGEST = 300  # characters of a line
HOW, NOTES = "how", "notes"  # columns: how a final score came about, and remarks
LATE, FLAGGED, CHANGED, ALIKE, UNIMPORTABLE = "late", "flagged", "changed", "alike", "import"


class Class:
    """A class as its page shows it.

    Attributes:
        folders: of the entries' feedback, relative to the page; "" where there is none.
        viva: whether any questions about students' own code were answered.
        tags: what each entry can be filtered by.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        folders: Sequence[str],
        similar: Similar,
        says: summary.Says | None = None,
    ) -> None:
        self.entries, self.folders, self.similar = entries, folders, similar
        self.exercises: list[summary.Exercise] = summary.exercises_of(entries)
        self.mistakes: list[summary.Mistake] = summary.mistakes_of(entries, says)
        self.kinds = [summary.kind_of(entry) for entry in entries]
        self.viva = any(entry.viva for entry in entries)
        self.flags = [summary.flags_of(entry) for entry in entries]
        self.changes = [summary.changes_of(entry) for entry in entries]
        self.unimportable = [summary.unimportable(entry) for entry in entries]
        self.graded = [entry.result for entry in entries if entry.result is not None]
        self.tags: list[list[str]] = [[f"k{summary.KINDS.index(kind)}"] for kind in self.kinds]
        for index, entry in enumerate(entries):
            self.tags[index] += [LATE] if entry.hand_in.minutes_late else []
            self.tags[index] += [FLAGGED] if self.flags[index] else []
            self.tags[index] += [CHANGED] if self.changes[index] else []
            self.tags[index] += [UNIMPORTABLE] if self.unimportable[index] else []
        for number, mistake in enumerate(self.mistakes):
            for index in mistake.places:
                self.tags[index].append(f"m{number}")
        for number, group in enumerate(similar.groups):
            for index in group.members:
                self.tags[index] += [f"g{number}", ALIKE]

    def name(self, index: int) -> Element:
        """Return a student's name, with a link to the feedback if there is any."""
        student = self.entries[index].hand_in.student
        if not self.folders[index]:
            return element("span", student, class_="name")
        return element("a", student, href=f"{quote(self.folders[index])}/{PAGE}", class_="name")

    def count(self, tag: str) -> int:
        """Return how many entries have a tag."""
        return sum(tag in tags for tags in self.tags)


def _cell(value: float | None, shown: str = "", name: str = "number") -> Element:
    """Return a cell that shows some markup, which is not escaped, and is sorted by a number.

    Args:
        value: None sorts last in either direction.
    """
    key = "" if value is None else f"{value:g}"
    return Element(f'<td role="cell" class="{name}" data-value="{key}">{shown or key}</td>')


def _exercise_cell(exercise: Mapping[str, Any] | None) -> Element:
    if exercise is None:
        return _cell(None)
    name, mark = html.MARKS[Outcome(exercise["outcome"])]
    score = exercise["score"]
    return _cell(score, mark if score is None else f"{mark} {points(score)}", name)


def _notes(view: Class, index: int) -> Iterator[str]:
    if problem := summary.problem_of(view.entries[index]):
        yield problem[:LONGEST]
    if files := view.unimportable[index]:
        yield f"{', '.join(files)} cannot be imported"
    if count := len(view.flags[index]):
        yield number_of(count, "flag")
    if view.changes[index]:
        yield "changed"
    if ALIKE in view.tags[index]:
        yield "near-identical to others"


def _row(view: Class, index: int) -> Element:
    entry = view.entries[index]
    result, hand_in = entry.result, entry.hand_in
    other = hand_in.name if hand_in.name != hand_in.student else None
    small = element("small", other) if other else None
    first = element("th", view.name(index), small, scope="row", role="rowheader")
    by_id = {exercise["id"]: exercise for exercise in entry.exercises}
    score = result["score"] if result else None
    total = out_of(score, result["max_score"]) if result else ""
    final, written = entry.final, entry.written
    return element(
        "tr",
        first,
        _cell(score, total),
        *(
            (_cell(final.points), element("td", final.how, role="cell", class_=HOW))
            if final
            else ()
        ),
        *((_cell(None if written.points is None else float(written.points)),) if written else ()),
        *((_cell(entry.viva and entry.viva[0], entry.answered),) if view.viva else ()),
        _cell(hand_in.minutes_late),
        element("td", "; ".join(_notes(view, index)), role="cell", class_=NOTES),
        _cell(result["bonus"] if result else None),
        *(_exercise_cell(by_id.get(exercise.id)) for exercise in view.exercises),
        _cell(round(entry.seconds, 1) or None),
        role="row",
        data_tags=" ".join(view.tags[index]),
    )


def table(view: Class) -> Element:
    """Return the table of all students; its roles are explicit, as styles turn it into boxes."""
    final = ["final", HOW] if any(entry.final for entry in view.entries) else []
    final += ["written"] if any(entry.written for entry in view.entries) else []
    final += ["viva"] if view.viva else []
    exercises = (exercise.id for exercise in view.exercises)
    names = ["student", "score", *final, "min. late", NOTES, "bonus", *exercises, "seconds"]
    role = {"scope": "col", "role": "columnheader"}
    heads = (
        element(
            "th",
            element("button", name, type="button"),
            **role,
            class_=name if name in (HOW, NOTES) else None,
        )
        for name in names
    )
    rows = (_row(view, index) for index in range(len(view.entries)))
    students = element(
        "table",
        element("thead", element("tr", *heads, role="row"), role="rowgroup"),
        element("tbody", *rows, role="rowgroup"),
        id="students",
        role="table",
        aria_label="All students",
    )
    around = {"class_": "scroll", "role": "region", "aria_label": "All students", "tabindex": 0}
    return element("div", students, **around)


def _choices(view: Class) -> Iterator[tuple[str, str]]:
    """Yield what the table can be filtered by: a tag and its label."""
    yield "", "everybody"
    for index, kind in enumerate(summary.KINDS):
        yield f"k{index}", kind
    yield from ((LATE, "late"), (FLAGGED, "with flags"), (CHANGED, "changed"))
    yield UNIMPORTABLE, "with a file that cannot be imported"
    for index, mistake in enumerate(view.mistakes):
        yield f"m{index}", f"{mistake.exercise}: {mistake.text[:80]}"
    for index, group in enumerate(view.similar.groups):
        yield f"g{index}", f"near-identical, group {index + 1} of {len(group.members)}"


def tools(view: Class) -> Element:
    """Return the search field and filter of the table, and the legend of its marks."""
    options = [
        element("option", f"{label} ({view.count(tag) if tag else len(view.entries)})", value=tag)
        for tag, label in _choices(view)
        if not tag or view.count(tag)
    ]
    field = Element('<input id="search" type="search" autocomplete="off" spellcheck="false">')
    marks = (element("li", html.chip(outcome)) for outcome in Outcome)
    return joined(
        element(
            "div",
            element("label", "search", field),
            element("label", "show", element("select", *options, id="choice", autocomplete="off")),
            element("p", "", id="shown", role="status"),
            class_="tools",
        ),
        element("ul", *marks, class_="marks", aria_label="Marks in the table"),
    )
