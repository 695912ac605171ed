"""Read the results of an earlier class from its store, which is left unchanged."""

import contextlib
import json
import sqlite3
from pathlib import Path

from tensormark.classroom.jobs.store import VERSION
from tensormark.classroom.options import STORE
from tensormark.classroom.reports.anonymous import Term
from tensormark.exercise import Assignment
from tensormark.intake.submission import SubmissionError
from tensormark.usage import option

# the last grading of each student's last hand-in
QUERY = """SELECT student, digest, result FROM submission JOIN attempt USING (digest)
    WHERE result IS NOT NULL ORDER BY seen, submission.rowid, attempt.id"""


def read_class(folder: Path, assignment: Assignment) -> Term:
    """Return the class whose results are in a folder.

    Raises:
        SubmissionError: it has none, or those of a different assignment.
    """
    given = option("last", folder)
    path = folder / STORE
    if not path.is_file():
        raise SubmissionError(f"{given}: is not the folder of a class: it has no {STORE}")
    # without a log of changes nobody has the file open, and SQLite must not create one
    mode = "mode=ro" if path.with_name(f"{STORE}-wal").exists() else "immutable=1"
    try:
        uri = f"{path.resolve().as_uri()}?{mode}"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as file:
            if file.execute("PRAGMA user_version").fetchone() != (VERSION,):
                raise SubmissionError(f"{given}: was written by another version")
            rows = file.execute(QUERY).fetchall()
        newest = {student: (work, json.loads(result)) for student, work, result in rows}
    except (sqlite3.Error, ValueError) as error:
        raise SubmissionError(f"{given}: its {STORE} cannot be read ({error})") from error
    term = Term(newest.values())
    ids = {exercise.id for exercise in assignment.exercises}
    if not any(ids & exercises.keys() for exercises in term.exercises):
        raise SubmissionError(f"{given}: has no results of {assignment.name}")
    return term
