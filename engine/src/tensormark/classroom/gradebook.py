"""gradebook.csv and gradebook.html: the class, for spreadsheets and for people.

Both have the cells below. The page needs no other file and no network; without its script it is
complete, but cannot be sorted or searched.
"""

import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensormark.classroom.counts import Says, exercise_counts, histogram, mistake_counts
from tensormark.classroom.entry import EMPTY, KINDS, NOBODYS, UNIMPORTABLE, UNREAD, Entry
from tensormark.reports import html, pages
from tensormark.reports.platforms import csv_text
from tensormark.result import Outcome

TABLE = "gradebook.csv"
PAGE = "gradebook.html"
TEMPLATES = Path(__file__).with_name("templates")
LISTED = 15  # lines of a list; the table's filter shows everybody
BAR_HEIGHT = 148  # of the longest bar of the histogram, in pixels
# what else the table can be filtered by, and the attribute of those who fit
MARKED = {
    "late": "late",
    "with notes": "notes",
    "with flags": "flags",
    "with equal files": "equal_to",
}
APART = (UNIMPORTABLE, EMPTY, UNREAD, NOBODYS)  # kinds that are listed beside the mistakes
TEXT = "notes"  # the look of a column of texts


@dataclass(frozen=True)
class Cell:
    """A cell of the gradebook.

    Attributes:
        title: of its column; value: a number, a text, or None.
        on_page: whether the page has it, too.
        look, mark: its class on the page, and what stands before the value.
    """

    title: str
    value: Any
    on_page: bool = True
    look: str = "number"
    mark: str = ""


def _cells_of_exercises(entry: Entry, begun: Mapping[str, bool]) -> Iterator[Cell]:
    """Yield a student's scores, with the outcomes.

    Args:
        begun: the ids of all exercises, and whether anybody has begun one.
    """
    results = {each["id"]: each for each in entry.exercises}
    for name, on_page in begun.items():
        if name in results:
            look, mark = html.MARKS[Outcome(results[name]["outcome"])]
            yield Cell(name, results[name]["score"], on_page, look, mark)
        else:
            yield Cell(name, None, on_page)


def rows_of(entries: Sequence[Entry]) -> list[list[Cell]]:
    """Return the cells of each student, in the columns that the class needs."""
    counted = {count.id for count in exercise_counts(entries)}
    exercises = itertools.chain.from_iterable(entry.exercises for entry in entries)
    begun = {each["id"]: each["id"] in counted for each in exercises}
    adjusted = any(entry.points not in (None, entry.score) for entry in entries)
    dated = any(entry.late is not None for entry in entries)
    rows = []
    for entry in entries:
        result = entry.result or {}
        when = entry.submitted
        row = [
            Cell("student", entry.student, on_page=False),
            Cell("name", entry.name, on_page=False),
            Cell("score", entry.score),
            *([Cell("points", entry.points)] if adjusted else []),
            Cell("max_score", result.get("max_score"), on_page=False),
            *_cells_of_exercises(entry, begun),
            Cell("bonus", result.get("bonus")),
            *([Cell("late", "late" if entry.late else None)] if dated else []),
            Cell("notes", "; ".join(filter(None, [entry.why_ungraded, *entry.notes])), look=TEXT),
            Cell("flags", "; ".join(entry.flags), look=TEXT),
            Cell("equal_to", ", ".join(entry.equal_to), look=TEXT),
            Cell("status", entry.kind, on_page=False),
            Cell("submitted", when and when.isoformat(timespec="seconds"), on_page=False),
            Cell("file", entry.path and entry.path.name, on_page=False),
        ]
        rows.append(row)
    return rows


def table(entries: Sequence[Entry]) -> str:
    """Return the class as a CSV table in which no cell is a formula."""
    rows = rows_of(entries)
    titles = [cell.title for cell in rows[0]] if rows else []
    return csv_text([titles, *([cell.value for cell in row] for row in rows)])


def _choices(entries: Sequence[Entry]) -> dict[str, set[str]]:
    """Return what the table can be filtered by, besides mistakes, and the students who fit."""
    choices = {kind: {each.student for each in entries if each.kind == kind} for kind in KINDS}
    for label, attribute in MARKED.items():
        choices[label] = {each.student for each in entries if getattr(each, attribute)}
    return choices


def _summary(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return what the page says about the class as a whole."""
    graded = [entry.result for entry in entries if entry.result is not None]
    scores = [result["score"] for result in graded]
    counts = histogram(entries)
    return {
        "assignment": str(graded[0]["assignment"]) if graded else "",
        "public": any(not result["private"] for result in graded),
        "total": sum(entry.kind != NOBODYS for entry in entries),
        "graded": len(graded),
        "most": max((result["max_score"] for result in graded), default=0),
        "median": round(statistics.median(scores), 1) if scores else None,
        "mean": round(statistics.mean(scores), 1) if scores else None,
        "bars": [(count, BAR_HEIGHT * count / max([*counts, 1])) for count in counts],
        "exercises": exercise_counts(entries),
    }


def page(entries: Sequence[Entry], says: Says, common_flags: Sequence[str]) -> str:
    """Return the page of a class.

    Args:
        says: see `mistake_counts`; common_flags: those that most of the class have.
    """
    summary = _summary(entries)
    mistakes = mistake_counts(entries, says)[:LISTED]
    usual = list(_choices(entries).items())
    choices = usual + [(f"{each.exercise}: {each.text}", each.students) for each in mistakes]
    used = [
        column
        for column in zip(*rows_of(entries), strict=True)
        if any(cell.on_page and cell.value not in (None, "") for cell in column)
    ]
    rows = []
    for place, entry in enumerate(entries):
        tags = [f"t{n}" for n, (_, students) in enumerate(choices) if entry.student in students]
        rows.append((entry, tags, [column[place] for column in used]))
    return pages.page(
        f"{summary['assignment']}: gradebook" if summary["graded"] else "Gradebook",
        TEMPLATES / "gradebook.html.j2",
        TEMPLATES / "gradebook.css",
        TEMPLATES / "gradebook.js",
        **summary,
        kinds=usual[: len(KINDS)],
        apart=[(n, *usual[n]) for n, kind in enumerate(KINDS) if kind in APART and usual[n][1]],
        named=any(entry.name != entry.student for entry in entries),
        mistakes=mistakes,
        rows=rows,
        choices=choices,
        first_mistake=len(usual),
        outcomes=[html.chip(outcome) for outcome in Outcome],
        entries=entries,
        common_flags=common_flags,
        listed=LISTED,
    )
