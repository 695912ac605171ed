"""Questions that workers make for each student about their own code.

A sheet is drawn with a seed made of the student and a secret of the class: the same command draws
the same sheets, nobody else can, and it does not matter what others have handed in. Sheets have
their own table, as results are shown to students. A submission without usable questions does not
stop the run: its students get a note instead.
"""

import dataclasses
import datetime
import hmac
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tensormark.classroom.entry import Entry, legible
from tensormark.classroom.jobs.estimate import LATEST
from tensormark.classroom.jobs.store import Attempt, Store, attempt_of
from tensormark.classroom.jobs.work import Ask, Terms
from tensormark.classroom.standing import Class
from tensormark.classroom.summary import kind_of
from tensormark.exercise import Assignment
from tensormark.intake.submission import SubmissionError
from tensormark.reports.text import visible
from tensormark.result import Outcome
from tensormark.sandbox.interface import printable
from tensormark.usage import option
from tensormark.viva import draw
from tensormark.viva.question import Sheet, labelled
from tensormark.viva.subject import subjects_of

SECRET = "viva secret"  # the name of a setting
NOTHING_RIGHT = "no function is right"
NO_QUESTION = "no good question was found"
NOT_MADE = "not made yet; run the same command again"
FAILED = "could not be made; the same command tries again"
KILLED = {"note": "the submission kills the process that makes them"}


def kind_of_sheet(attempt: Attempt) -> str:
    """Return the label that an attempt is counted under while questions are made."""
    if attempt.result is None:
        return "could not be done"
    return "with questions" if sheet_of(attempt).questions else "without"


def sheet_of(attempt: Attempt) -> Sheet:
    """Return the sheet of a result; one without questions has notes that say why."""
    result = attempt.result or {"note": f"{FAILED}: {attempt.problem}"}
    if "sheet" in result:
        return Sheet.from_json(result["sheet"])
    return Sheet("", "", "", (), (), (str(result["note"]),))


class Sheets:
    """The table of sheets in a store, which keeps answers for the engine."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def add(self, job: str, terms: Terms, attempt: Attempt) -> None:
        """Add an attempt; it is on disk when this returns."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        text = None if attempt.result is None else json.dumps(attempt.result)
        key = (None, job, terms.references, terms.grader)
        fields = (attempt.worker, now, attempt.seconds, attempt.problem, text)
        with self.store.change() as file:
            file.execute("INSERT INTO viva VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*key, *fields))

    def graded(self, terms: Terms) -> set[str]:
        """Return the digests of all jobs that are done."""
        query = "SELECT job FROM viva WHERE result IS NOT NULL AND reference = ? AND grader = ?"
        return {str(row[0]) for row in self.store.rows(query, terms.references, terms.grader)}

    def last(self, job: str, terms: Terms) -> Attempt | None:
        """Return the last attempt at a job, if possible one with a result."""
        query = """SELECT worker, seconds, problem, result, id FROM viva
            WHERE job = ? AND reference = ? AND grader = ?
            ORDER BY result IS NULL, id DESC LIMIT 1"""
        rows = self.store.rows(query, job, terms.references, terms.grader)
        return attempt_of(rows[0]) if rows else None

    def durations(self) -> list[float]:
        """Return the seconds that the last jobs took."""
        query = "SELECT seconds FROM viva WHERE seconds > 0 ORDER BY id DESC LIMIT ?"
        return [float(row[0]) for row in self.store.rows(query, LATEST)]


@dataclasses.dataclass(frozen=True)
class StudentSheet:
    """A student's sheet, or a note that says why there is none.

    Attributes:
        note: for staff; next to a sheet, further remarks.
        code: opens the student's quiz on Canvas.
    """

    entry: Entry
    sheet: Sheet | None
    note: str = ""
    code: str = ""


class Viva:
    """The questions of a class."""

    def __init__(
        self, number: int, store: Store, students: Class, terms: Terms, assignment: Assignment
    ) -> None:
        """Create the secret if needed.

        Args:
            number: how many questions a sheet has.

        Raises:
            SubmissionError: the assignment does not say what can be asked about.
        """
        if not subjects_of(assignment.folder):
            raise SubmissionError(f"{option('viva', number)}: {draw.NOTHING_SAID}")
        self.number, self.students, self.terms = number, students, terms
        self.assignment = assignment
        self.sheets = Sheets(store)
        secret = store.setting(SECRET) or f"{secrets.randbits(256):064x}"
        store.choose(SECRET, secret)
        self.secret = bytes.fromhex(secret)

    def seed(self, *parts: str) -> str:
        """Return a seed that only those who have the store can know."""
        return hmac.digest(self.secret, "\0".join(parts).encode(), "sha256").hex()

    def jobs(self, entries: Sequence[Entry]) -> list[Ask | None]:
        """Return the job of each student of a class; None if no function is right."""
        jobs: list[Ask | None] = []
        for student, entry in zip(self.students.students, entries, strict=True):
            right = [
                exercise["id"]
                for exercise in entry.exercises
                if exercise["outcome"] == Outcome.PASSED
            ]
            if student.work is None or not draw.askable(self.assignment, right):
                jobs.append(None)
                continue
            seed = self.seed("student", legible(entry.hand_in.student))
            jobs.append(Ask(student.work, tuple(right), seed, self.number))
        return jobs

    def left(self, entries: Sequence[Entry], force: bool, only: str | None = None) -> list[Ask]:
        """Return the jobs to do.

        Args:
            only: a student, if not everybody.
        """
        done = set() if force else self.sheets.graded(self.terms)
        jobs = {
            job.digest: job
            for job, entry in zip(self.jobs(entries), entries, strict=True)
            if job is not None and only in (None, entry.hand_in.student)
        }
        return [job for name, job in jobs.items() if name not in done]

    def student_sheets(self, entries: Sequence[Entry]) -> Iterator[StudentSheet]:
        """Yield everybody's sheet."""
        for job, entry in zip(self.jobs(entries), entries, strict=True):
            yield self._student_sheet(job, entry)

    def _student_sheet(self, job: Ask | None, entry: Entry) -> StudentSheet:
        path = entry.hand_in.path
        if entry.result is None or path is None:
            return StudentSheet(entry, None, kind_of(entry))
        if job is None:
            return StudentSheet(entry, None, NOTHING_RIGHT)
        attempt = self.sheets.last(job.digest, self.terms)
        if attempt is None:
            return StudentSheet(entry, None, NOT_MADE)
        original = sheet_of(attempt)
        if not original.questions:
            return StudentSheet(entry, None, visible("; ".join(original.notes) or NO_QUESTION, 300))
        name, notes = printable(legible(path.name)), {draw.IN_EVAL}.intersection(original.notes)
        sheet = dataclasses.replace(labelled(original), submission=name, notes=tuple(notes))
        note = visible("; ".join(each for each in original.notes if each not in notes), 300)
        code = self.seed("code", legible(entry.hand_in.student))[:8].upper()
        return StudentSheet(entry, sheet, note, code)


def blamed(job: Ask) -> Mapping[str, Any]:
    """Return the result of a job that kills its workers."""
    return KILLED
