"""gradebook.csv and gradebook.html: the class, for spreadsheets and for people.

Both have the columns below. The page needs no other file and no network; without its script it is
complete, but cannot be sorted or searched.
"""

import functools
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensormark.classroom.counts import MistakeCount, exercise_counts, histogram, mistake_counts
from tensormark.classroom.entry import KINDS, Entry
from tensormark.reports import html, pages
from tensormark.reports.platforms import csv_text
from tensormark.result import Outcome

TABLE = "gradebook.csv"
PAGE = "gradebook.html"
TEMPLATES = Path(__file__).with_name("templates")
LISTED = 15  # lines of a list; the table's filter shows everybody
BAR_HEIGHT = 148  # of the longest bar of the histogram, in pixels


@dataclass(frozen=True)
class Column:
    """A column of the gradebook.

    Attributes:
        value: returns an entry's cell: a number, a text, or None.
        on_page: whether the page has it, too; wide: as a column of texts.
    """

    title: str
    value: Callable[[Entry], Any]
    on_page: bool = True
    wide: bool = False


def _from_result(key: str) -> Callable[[Entry], Any]:
    return lambda entry: entry.result[key] if entry.result else None


def _score_of(exercise: str) -> Callable[[Entry], Any]:
    return lambda entry: next(
        (each["score"] for each in entry.exercises if each["id"] == exercise), None
    )


def _submitted(entry: Entry) -> str | None:
    when = entry.submitted
    return when.isoformat(timespec="seconds") if when else None


def columns_of(entries: Sequence[Entry]) -> list[Column]:
    """Return the columns that a class needs."""
    exercises = dict.fromkeys(each["id"] for entry in entries for each in entry.exercises)
    begun = {count.id for count in exercise_counts(entries)}
    adjusted = [Column("points", lambda entry: entry.points)]
    return [
        Column("student", lambda entry: entry.student, on_page=False),
        Column("name", lambda entry: entry.name, on_page=False),
        Column("score", _from_result("score")),
        *(adjusted if any(entry.adjustments for entry in entries) else ()),
        Column("max_score", _from_result("max_score"), on_page=False),
        *(Column(each, _score_of(each), each in begun) for each in exercises),
        Column("bonus", _from_result("bonus")),
        Column("late", lambda entry: "late" if entry.late else None),
        Column("notes", lambda e: "; ".join(filter(None, [e.without, *e.notes])), wide=True),
        Column("flags", lambda entry: "; ".join(entry.flags), wide=True),
        Column("equal_to", lambda entry: ", ".join(entry.equal), wide=True),
        Column("status", lambda entry: entry.kind, on_page=False),
        Column("submitted", _submitted, on_page=False),
        Column("file", lambda e: e.path.name if e.path else None, on_page=False),
    ]


def table(entries: Sequence[Entry]) -> str:
    """Return the class as a CSV table in which no cell is a formula."""
    columns = columns_of(entries)
    rows = ([column.value(entry) for column in columns] for entry in entries)
    return csv_text([[column.title for column in columns], *rows])


def _is_of(kind: str, entry: Entry) -> bool:
    return entry.kind == kind


# what the table can be filtered by, besides mistakes
FILTERS: Mapping[str, Callable[[Entry], object]] = {
    **{kind: functools.partial(_is_of, kind) for kind in KINDS},
    "late": lambda entry: entry.late,
    "with notes": lambda entry: entry.notes,
    "with flags": lambda entry: entry.flags,
    "with equal files": lambda entry: entry.equal,
}


def _choices(
    entries: Sequence[Entry], mistakes: Sequence[MistakeCount]
) -> list[tuple[str, Collection[int]]]:
    """Return what the table can be filtered by, and the places of those who fit."""
    fitting = [
        (label, [place for place, entry in enumerate(entries) if fits(entry)])
        for label, fits in FILTERS.items()
    ]
    return fitting + [(f"{each.exercise}: {each.text}", each.members) for each in mistakes]


def _cells(entry: Entry, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return what the page shows of an entry: a value to sort by, a mark, and a class.

    The column of an exercise, which has its id, also shows the outcome.
    """
    outcomes = {each["id"]: Outcome(each["outcome"]) for each in entry.exercises}
    cells = []
    for column in columns:
        value = column.value(entry)
        name, mark = html.MARKS[outcomes[column.title]] if column.title in outcomes else ("", "")
        cells.append({"value": value, "mark": mark, "name": "notes" if column.wide else name})
    return cells


def _rows(
    entries: Sequence[Entry],
    columns: Sequence[Column],
    choices: Sequence[tuple[str, Collection[int]]],
) -> list[dict[str, Any]]:
    """Return the rows of the page's table; tags say which choices show them."""
    rows = []
    for place, entry in enumerate(entries):
        tags = [f"t{number}" for number, (_, members) in enumerate(choices) if place in members]
        rows.append({"entry": entry, "tags": " ".join(tags), "cells": _cells(entry, columns)})
    return rows


def _summary(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return what the page says about the class as a whole."""
    graded = [entry.result for entry in entries if entry.result is not None]
    scores = [result["score"] for result in graded]
    counts = histogram(entries)
    return {
        "assignment": str(graded[0]["assignment"]) if graded else "",
        "public": any(not result["private"] for result in graded),
        "kinds": [(sum(entry.kind == kind for entry in entries), kind) for kind in KINDS],
        "total": len(entries),
        "graded": len(graded),
        "most": max((result["max_score"] for result in graded), default=0),
        "median": round(statistics.median(scores), 1) if scores else None,
        "mean": round(statistics.mean(scores), 1) if scores else None,
        "bars": [(count, BAR_HEIGHT * count / max([*counts, 1])) for count in counts],
        "exercises": exercise_counts(entries),
    }


def page(
    entries: Sequence[Entry], says: Mapping[tuple[str, str], str], common_flags: Sequence[str]
) -> str:
    """Return the page of a class.

    Args:
        says: see `mistake_counts`; common_flags: those that most of the class have.
    """
    columns = [column for column in columns_of(entries) if column.on_page]
    mistakes = mistake_counts(entries, says)[:LISTED]
    choices = _choices(entries, mistakes)
    summary = _summary(entries)
    return pages.page(
        f"{summary['assignment']}: gradebook" if summary["graded"] else "Gradebook",
        TEMPLATES / "gradebook.html.j2",
        TEMPLATES / "gradebook.css",
        TEMPLATES / "gradebook.js",
        **summary,
        mistakes=mistakes,
        columns=columns,
        rows=_rows(entries, columns, choices),
        choices=choices,
        first_mistake=len(FILTERS),
        outcomes=[html.chip(outcome) for outcome in Outcome],
        problems=[entry for entry in entries if entry.without],
        flagged=[entry for entry in entries if entry.flags],
        common_flags=common_flags,
        listed=LISTED,
    )
