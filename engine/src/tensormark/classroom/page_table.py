"""The table of a class on its page: a row a student, and what it is searched and filtered with."""

from collections.abc import Iterator, Mapping
from typing import Any

from tensormark.classroom.entry import number_of
from tensormark.classroom.shown import ALIKE, CHANGED, FLAGGED, LATE, LONGEST, UNIMPORTABLE, Class
from tensormark.classroom.summary import KINDS, problem_of
from tensormark.reports import html
from tensormark.reports.markup import Element, element, joined
from tensormark.reports.text import out_of, points
from tensormark.result import Outcome


def _cell(value: float | None, shown: str = "", name: str = "number") -> Element:
    """Return a cell with a number: what it is sorted by, and what is shown, which is no text.

    Args:
        value: None comes last, whichever way the others are sorted.
    """
    key = "" if value is None else f"{value:g}"
    return Element(f'<td role="cell" class="{name}" data-value="{key}">{shown or key}</td>')


def _exercise_cell(exercise: Mapping[str, Any] | None) -> Element:
    if exercise is None:
        return _cell(None)
    name, mark = html.MARKS[Outcome(exercise["outcome"])]
    score = exercise["score"]
    return _cell(score, mark if score is None else f"{mark} {points(score)}", name)


def _notes(shown: Class, place: int) -> Iterator[str]:
    if problem := problem_of(shown.entries[place]):
        yield problem[:LONGEST]
    if files := shown.unimportable[place]:
        yield f"{', '.join(files)} cannot be imported"
    if count := len(shown.flags[place]):
        yield number_of(count, "flag")
    if shown.changes[place]:
        yield "changed"
    if ALIKE in shown.tags[place]:
        yield "near-identical to others"


def _row(shown: Class, place: int) -> Element:
    entry = shown.entries[place]
    result, hand_in = entry.result, entry.hand_in
    other = hand_in.name if hand_in.name != hand_in.student else None
    small = element("small", other) if other else None
    first = element("th", shown.name(place), small, scope="row", role="rowheader")
    by_id = {exercise["id"]: exercise for exercise in result["exercises"]} if result else {}
    score = result["score"] if result else None
    total = out_of(score, result["max_score"]) if result else ""
    return element(
        "tr",
        first,
        _cell(score, total),
        _cell(result["bonus"] if result else None),
        *(_exercise_cell(by_id.get(exercise.id)) for exercise in shown.exercises),
        _cell(hand_in.minutes_late),
        _cell(round(entry.seconds, 1) or None),
        element("td", "; ".join(_notes(shown, place)), role="cell"),
        role="row",
        data_tags=" ".join(shown.tags[place]),
    )


def table(shown: Class) -> Element:
    """Return the table of all students; its roles are written out, as its styles make it boxes."""
    names = ["student", "score", "bonus", *(exercise.id for exercise in shown.exercises)]
    heads = (
        element("th", element("button", name, type="button"), scope="col", role="columnheader")
        for name in (*names, "min. late", "seconds", "notes")
    )
    rows = (_row(shown, place) for place in range(len(shown.entries)))
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


def _choices(shown: Class) -> Iterator[tuple[str, str]]:
    """Yield what the table can be filtered by: a tag, and what it says."""
    yield "", "everybody"
    for place, kind in enumerate(KINDS):
        yield f"k{place}", kind
    yield from ((LATE, "late"), (FLAGGED, "with flags"), (CHANGED, "changed"))
    yield UNIMPORTABLE, "with a file that cannot be imported"
    for place, mistake in enumerate(shown.mistakes):
        yield f"m{place}", f"{mistake.exercise}: {mistake.text[:80]}"
    for place, group in enumerate(shown.similar.groups):
        yield f"g{place}", f"near-identical, group {place + 1} of {len(group.members)}"


def tools(shown: Class) -> Element:
    """Return what the table is searched and filtered with."""
    options = [
        element("option", f"{what} ({shown.count(tag) if tag else len(shown.entries)})", value=tag)
        for tag, what in _choices(shown)
        if not tag or shown.count(tag)
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
