"""Write what a class gets back and what its instructor reads, all from the same entries.

gradebook.csv, gradebook.html   the class, for spreadsheets and for people
teach.html      anonymous statistics, to show to the class
similar.html    near-identical submissions side by side, if there are any
canvas.csv      for Canvas to import: one column, only for students with a score
feedback/       one folder per student
                other files for platforms to import; see returned.py
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tensormark.classroom.earlier import Earlier
from tensormark.classroom.entry import Entry, number_of
from tensormark.classroom.failure import FileError
from tensormark.classroom.reports import similar_page
from tensormark.classroom.reports.canvas import WARNING, fill_export
from tensormark.classroom.reports.feedback import FOLDER, write_feedback
from tensormark.classroom.reports.page import page
from tensormark.classroom.reports.returned import RETURNED, returned
from tensormark.classroom.reports.similar import Similar, similar
from tensormark.classroom.summary import Says, flags_of, problem_of
from tensormark.reports.platforms import csv_text

TABLE, PAGE, CANVAS = "gradebook.csv", "gradebook.html", "canvas.csv"
TEACH, SIMILAR = "teach.html", "similar.html"
RESULTS = (TABLE, PAGE, TEACH, SIMILAR, CANVAS, FOLDER, *RETURNED)
CACHE = ".statements.json"  # of the comparison of sources, for the next run
FIRST = ("student", "submission", "score", "max_score", "bonus")
FINAL = ("final", "how")  # only where there is a ledger
WRITTEN = "written"  # only where there are sheets; followed by a column for each question
VIVA = "viva"  # only where questions about their own code were answered
LAST = ("name", "submitted", "minutes_late", "problem", "flags", "other_files")


def _written(entry: Entry) -> list[float | None]:
    """Return a student's points for all written questions, then for each; [] without sheets."""
    marks = entry.written
    given = [marks.points, *(mark.points for mark in marks.marks)] if marks else []
    return [None if points is None else float(points) for points in given]


def _row(entry: Entry, exercises: Sequence[str], viva: bool) -> list[Any]:
    hand_in, result, final = entry.hand_in, entry.result or {}, entry.final
    own = {exercise["id"]: exercise["score"] for exercise in result.get("exercises", ())}
    others = "; ".join(path.name for path in hand_in.others)
    when = hand_in.submitted.isoformat(timespec="seconds") if hand_in.submitted else None
    return [
        hand_in.student,
        hand_in.path.name if hand_in.path else None,
        *(result.get(name) for name in FIRST[2:]),
        *((final.points, final.how) if final else ()),
        *(own.get(name) for name in exercises),
        *_written(entry),
        *((entry.answered,) if viva else ()),
        *(hand_in.name, when, hand_in.minutes_late),
        *(problem_of(entry), "; ".join(flags_of(entry)), others),
    ]


def _table(entries: Sequence[Entry]) -> str:
    """Return the class as a CSV table in which no cell is a formula."""
    ids = (exercise["id"] for entry in entries for exercise in entry.exercises)
    exercises = list(dict.fromkeys(ids))
    viva = any(entry.viva for entry in entries)
    rows = (_row(entry, exercises, viva) for entry in entries)
    final = FINAL if any(entry.final for entry in entries) else ()
    marks = next((entry.written.marks for entry in entries if entry.written), None)
    written = () if marks is None else (WRITTEN, *(mark.question.id for mark in marks))
    about = (*FIRST, *final, *exercises, *written, *((VIVA,) if viva else ()), *LAST)
    return csv_text([about, *rows])


def _compared(
    entries: Sequence[Entry],
    starter: Mapping[str, str],
    known: Sequence[Mapping[str, str]],
    cache: Path,
) -> Similar:
    """Return the groups of near-identical submissions; a team's hand-in counts once."""
    owners: dict[Path | None, list[int]] = {}
    for index, entry in enumerate(entries):
        if entry.sources:
            owners.setdefault(entry.hand_in.path, []).append(index)
    teams = list(owners.values())
    similarity = similar([entries[places[0]].sources for places in teams], starter, known, cache)

    def among_all(places: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(index for place in places for index in teams[place]))

    groups = [replace(group, members=among_all(group.members)) for group in similarity.groups]
    return Similar(tuple(groups), among_all(similarity.unread), similarity.compared)


def write_results(
    entries: Sequence[Entry],
    out: Path,
    canvas: Path | None = None,
    column: str = "",
    starter: Mapping[str, str] | None = None,
    known: Sequence[Mapping[str, str]] = (),
    says: Says | None = None,
    roster: Path | None = None,
    teach: str = "",
    earlier: Earlier | None = None,
) -> list[str]:
    """Write the gradebook, the feedback, and Canvas's export if there is one.

    Args:
        out: the folder for all of it.
        canvas: the instructor's export; column: its column, see canvas.py.
        starter: module name to text, of the code that students were given; known: the same of
            solutions that anybody may resemble.
        says: the names of known mistakes.
        roster: the list of the class, which may be Moodle's worksheet.
        teach: the page to show to the class, if there is one.
        earlier: moves files of earlier runs aside; by default a new one for `out`.

    Returns: lines for the instructor.

    Raises:
        OSError: a file cannot be written.
    """
    earlier = earlier or Earlier(out)
    moved_before = len(earlier.moved)
    folders = write_feedback(entries, out, earlier)
    if len(earlier.moved) > moved_before:  # of students who are in the earlier gradebook
        earlier.move(TABLE, PAGE)
    similarity = _compared(entries, starter or {}, known, out / CACHE)
    earlier.write(TABLE, _table(entries))
    earlier.write(PAGE, page(entries, folders, similarity, says))
    if teach:
        earlier.write(TEACH, teach)
    feedback = number_of(sum(map(bool, folders)), "folder")
    lines = [f"wrote {out / PAGE}, {out / TABLE} and {feedback} of feedback"]
    if similarity.groups:
        earlier.write(SIMILAR, similar_page.page(entries, similarity, starter or {}, known))
        groups = number_of(len(similarity.groups), "group")
        lines.append(f"near-identical submissions for you to compare: {groups}, in {out / SIMILAR}")
    else:
        earlier.withdraw(SIMILAR)
        if similarity.compared > 1:
            lines.append(f"near-identical submissions: none among {similarity.compared}")
    lines += _filled_canvas(entries, canvas, column, earlier, roster is not None)
    lines += [*returned(entries, folders, roster, earlier), *earlier.lines()]
    return sorted(lines, key=lambda line: line.startswith(WARNING))


def _filled_canvas(
    entries: Sequence[Entry], canvas: Path | None, column: str, earlier: Earlier, roster: bool
) -> list[str]:
    """Fill in Canvas's export, if there is one, and report it; an earlier run's never stays."""
    path = earlier.out / CANVAS
    if canvas is None:
        earlier.withdraw(CANVAS)
        return []
    try:
        text, lines = fill_export(entries, canvas, column, path, roster)
    except FileError as error:
        if not (canvas.exists() and path.exists() and canvas.samefile(path)):
            earlier.move(CANVAS)
        return [f"Canvas: nothing was filled in: {error}"]
    earlier.write(CANVAS, text)
    return lines
