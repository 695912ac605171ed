"""Store every version of a class's ledger, with the final points that it gave everybody.

    ledger   a version: its time, late rule and adjustments, in JSON
    final    each student's final points in a version
    written  each student's marks for written questions, where sheets had any

A version is written whole or not at all, before the gradebook, and only if it differs from the last
one: repeating an interrupted run adds none.
"""

import dataclasses
import datetime
import json
from collections.abc import Sequence

from tensormark.classroom.entry import SHOWN, Entry, legible, number_of
from tensormark.classroom.jobs.store import Store
from tensormark.classroom.points.ledger import Ledger
from tensormark.reports.text import points, visible

Row = tuple[str, float | None, float | None, str]  # of the table final, without the version
MarkRow = tuple[str, str, float | None, str, str]  # of the table written


def _texts(ledger: Ledger | None) -> tuple[str, str]:
    """Return the rule and the adjustments in JSON; "" where there is none."""
    if ledger is None:
        return "", ""
    rule = json.dumps(dataclasses.asdict(ledger.rule), default=str) if ledger.rule else ""
    rows = [dataclasses.asdict(row) for rows in ledger.rows.values() for row in rows]
    return rule, json.dumps(rows, default=str)


def _rows(entries: Sequence[Entry]) -> list[Row]:
    return [
        (
            legible(entry.hand_in.student),
            entry.result["score"] if entry.result else None,
            entry.final.points,
            entry.final.how,
        )
        for entry in entries
        if entry.final is not None
    ]


def _mark_rows(entries: Sequence[Entry]) -> list[MarkRow]:
    return [
        (
            legible(entry.hand_in.student),
            mark.question.id,
            None if mark.points is None else float(mark.points),
            "\n".join(mark.comments),
            mark.who,
        )
        for entry in entries
        for mark in (entry.written.marks if entry.written else ())
        if mark.answers
    ]


def _last(store: Store) -> tuple[tuple[str, str], list[Row], list[MarkRow]] | None:
    versions = store.rows("SELECT id, rule, adjustments FROM ledger ORDER BY id DESC LIMIT 1")
    if not versions:
        return None
    number, *texts = versions[0]
    query = "SELECT student, score, final, how FROM final WHERE ledger = ? ORDER BY rowid"
    rows = list(store.rows(query, number))
    query = """SELECT student, question, points, comments, who FROM written
        WHERE ledger = ? ORDER BY rowid"""
    return (texts[0], texts[1]), rows, list(store.rows(query, number))


def _changes(before: Sequence[Row], rows: Sequence[Row], always: str | None) -> list[str]:
    """Return a line for each student whose points changed, and for `always`."""
    old = {student: final for student, _, final, _ in before}
    lines = [
        f"  {visible(student, 60)}: {_in_words(old[student])} {_comparison(old[student], final)}"
        for student, _, final, _ in rows
        if student in old and (old[student] != final or student == always)
    ]
    more = [f"  and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return ["final, compared with the last run:", *lines[:SHOWN], *more] if lines else []


def _in_words(final: float | None) -> str:
    return "none" if final is None else points(final)


def _comparison(before: float | None, final: float | None) -> str:
    return "unchanged" if before == final else f"before, {_in_words(final)} now"


def keep(
    store: Store, ledger: Ledger | None, entries: Sequence[Entry], always: str | None = None
) -> list[str]:
    """Store a version unless it equals the last one; return lines for the instructor.

    Args:
        entries: those of the class, with final points.
        always: a student to report even if nothing changed.
    """
    texts, rows, marks, last = _texts(ledger), _rows(entries), _mark_rows(entries), _last(store)
    if ledger is None and (last is None or last == (texts, rows, marks)):
        return []
    if last != (texts, rows, marks):
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        with store.change() as file:
            version = file.execute("INSERT INTO ledger VALUES (NULL, ?, ?, ?)", (now, *texts))
            values = [(version.lastrowid, *row) for row in rows]
            file.executemany("INSERT INTO final VALUES (?, ?, ?, ?, ?)", values)
            answers = [(version.lastrowid, *row) for row in marks]
            file.executemany("INSERT INTO written VALUES (?, ?, ?, ?, ?, ?)", answers)
    if ledger is None:
        return ["final: no longer in the gradebook; earlier versions stay in the store"]
    changed = sum(final not in (None, score and round(score, 2)) for _, score, final, _ in rows)
    lines = [f"final: differs from the score for {changed} of {number_of(len(rows), 'student')}"]
    return [*lines, *_changes(last[1] if last else (), rows, always), *ledger.lines(entries)]
