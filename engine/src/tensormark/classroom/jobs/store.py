"""Everything that was graded, in one SQLite file with one writer.

    submission   which student handed in what, by the digest of its work
    attempt      how some work was graded, with the digests of everything that decides the result;
                 or why it was not
    viva         how questions about some work were made, see viva/sheets.py
    ledger, final, written   every version of the final points, see points/finals.py

An attempt is on disk when `add` returns. SQLite's write-ahead log undoes what a crash leaves half
done; a lock that the kernel releases with the process keeps a second run out.
"""

import contextlib
import dataclasses
import datetime
import fcntl
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tensormark.classroom.entry import legible
from tensormark.classroom.jobs.work import Terms
from tensormark.usage import UserError, option

VERSION = 1
TABLES = """
CREATE TABLE IF NOT EXISTS submission (
    student TEXT NOT NULL, digest TEXT NOT NULL, path TEXT NOT NULL, seen TEXT NOT NULL,
    PRIMARY KEY (student, digest)
);
CREATE TABLE IF NOT EXISTS attempt (
    id INTEGER PRIMARY KEY, digest TEXT NOT NULL,
    reference TEXT NOT NULL, grader TEXT NOT NULL, checkpoint TEXT NOT NULL,
    mode TEXT NOT NULL, tier TEXT NOT NULL,
    worker TEXT NOT NULL, finished TEXT NOT NULL, seconds REAL NOT NULL,
    problem TEXT NOT NULL, complete INTEGER NOT NULL, result TEXT
);
CREATE INDEX IF NOT EXISTS attempts_of ON attempt (digest);
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS viva (
    id INTEGER PRIMARY KEY, job TEXT NOT NULL, reference TEXT NOT NULL, grader TEXT NOT NULL,
    worker TEXT NOT NULL, finished TEXT NOT NULL, seconds REAL NOT NULL,
    problem TEXT NOT NULL, result TEXT
);
CREATE TABLE IF NOT EXISTS ledger (
    id INTEGER PRIMARY KEY, time TEXT NOT NULL, rule TEXT NOT NULL, adjustments TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS final (
    ledger INTEGER NOT NULL, student TEXT NOT NULL, score REAL, final REAL, how TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS written (
    ledger INTEGER NOT NULL, student TEXT NOT NULL, question TEXT NOT NULL,
    points REAL, comments TEXT NOT NULL, who TEXT NOT NULL
);
"""
TERMS = "reference = ? AND grader = ? AND checkpoint = ? AND mode = ? AND tier = ?"
ATTEMPT = "worker, seconds, problem, result, attempt.id"
ROOM = 1 << 20  # bytes; with less free, a disk counts as full, whatever SQLite calls the error


@dataclasses.dataclass(frozen=True)
class Attempt:
    """How some work was graded, or how questions were made on it.

    Attributes:
        worker: the machine.
        problem: why there is no result, or "".
        number: in the store; later ones have higher numbers.
    """

    worker: str
    seconds: float = 0.0
    problem: str = ""
    result: Mapping[str, Any] | None = None
    number: int = 0

    @property
    def complete(self) -> bool:
        """Whether there is a result, with a score for every exercise in it."""
        result = self.result
        return result is not None and all(
            exercise["score"] is not None for exercise in result.get("exercises", ())
        )


def verdict(result: Mapping[str, Any]) -> dict[str, tuple[str, float | None]]:
    """Return what matters in a result: outcome and score by exercise."""
    return {
        exercise["id"]: (exercise["outcome"], exercise["score"]) for exercise in result["exercises"]
    }


def _key(terms: Terms) -> tuple[str, ...]:
    """Return the values for TERMS."""
    return terms.references, terms.grader, terms.checkpoint, terms.mode, terms.tier


def _advice() -> str:
    return f"name another {option('out')}"


@contextlib.contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder, which is created if needed.

    Raises:
        UserError: another run is using it, or the folder cannot be written to.
    """
    argument = option("out", folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / ".lock", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"{argument}: cannot be written to ({reason}); name another") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise UserError(f"{argument}: another run is writing there; wait for it") from error
    finally:
        os.close(descriptor)


class Store:
    """The file; see the module's docstring."""

    def __init__(self, path: Path) -> None:
        """Open the file, or create it.

        Raises:
            UserError: it is not a store.
        """
        self.path = path
        with self.explained():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # results are private
            self.file = sqlite3.connect(path, isolation_level=None)
            with contextlib.ExitStack() as opening:
                opening.callback(self.file.close)
                self._prepare()
                opening.pop_all()  # it stays open

    def _prepare(self) -> None:
        """Make the tables that the file lacks.

        Raises:
            UserError, sqlite3.Error: it is not a store.
        """
        self.file.execute("PRAGMA journal_mode = WAL")
        self.file.execute("PRAGMA synchronous = FULL")
        (version,) = self.file.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise UserError(f"{self.path} was written by another version; {_advice()}")
        # an older store lacks some of the tables
        self.file.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {VERSION}; COMMIT;")

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of SQLite and the disk into a sentence.

        Raises:
            UserError: an error occurred.
        """
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)
            if code == sqlite3.SQLITE_FULL or shutil.disk_usage(self.path.parent).free < ROOM:
                raise UserError(
                    f"{self.path}: the disk is full; free some space, then run this again"
                ) from error
            if code == sqlite3.SQLITE_NOTADB:
                raise UserError(f"{self.path} is not a store; {_advice()}") from error
            raise UserError(f"{self.path} cannot be used: {error}") from error
        except OSError as error:
            reason = error.strerror or error
            raise UserError(f"{self.path} cannot be used ({reason}); {_advice()}") from error

    @contextlib.contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction; at the end, either all of it is on disk or nothing."""
        with self.explained():
            self.file.execute("BEGIN IMMEDIATE")
            try:
                yield self.file
                self.file.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back itself
                    self.file.execute("ROLLBACK")
                raise

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return the rows that a query finds."""
        with self.explained():
            return self.file.execute(query, values).fetchall()

    def record(self, handed_in: Mapping[str, tuple[str, Path]]) -> None:
        """Record who handed in what: student to digest and path of the work."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        rows = [
            (legible(name), work, legible(os.fspath(path)), now)
            for name, (work, path) in handed_in.items()
        ]
        with self.change() as file:
            file.executemany("INSERT OR IGNORE INTO submission VALUES (?, ?, ?, ?)", rows)

    def add(self, work: str, terms: Terms, attempt: Attempt) -> None:
        """Add an attempt; it is on disk when this returns."""
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        text = None if attempt.result is None else json.dumps(attempt.result)
        fields = (attempt.worker, now, attempt.seconds, attempt.problem, attempt.complete, text)
        values = (None, work, *_key(terms), *fields)
        with self.change() as file:
            placeholders = ", ".join("?" * len(values))
            file.execute(f"INSERT INTO attempt VALUES ({placeholders})", values)

    def last(self, work: str, terms: Terms) -> Attempt | None:
        """Return the last attempt at some work with these terms, if possible a complete one."""
        return self._first_by("complete DESC, result IS NULL, id DESC", work, terms)

    def newest(self, work: str, terms: Terms) -> Attempt | None:
        """Return the last attempt at some work with these terms, however it ended."""
        return self._first_by("id DESC", work, terms)

    def _first_by(self, order: str, work: str, terms: Terms) -> Attempt | None:
        query = (
            f"SELECT {ATTEMPT} FROM attempt WHERE digest = ? AND {TERMS} ORDER BY {order} LIMIT 1"
        )
        rows = self.rows(query, work, *_key(terms))
        return attempt_of(rows[0]) if rows else None

    def graded(self, terms: Terms) -> set[str]:
        """Return the digests of all work that has a complete result with these terms."""
        query = f"SELECT DISTINCT digest FROM attempt WHERE complete AND {TERMS}"
        return {str(row[0]) for row in self.rows(query, *_key(terms))}

    def tries(self, work: str, terms: Terms) -> int:
        """Return how often grading some work was tried with these terms."""
        query = f"SELECT COUNT(*) FROM attempt WHERE digest = ? AND {TERMS}"
        return int(self.rows(query, work, *_key(terms))[0][0])

    def earlier(self, student: str, mode: str, before: int = 1 << 62) -> Attempt | None:
        """Return a student's last attempt of a mode that has a result, whatever was handed in.

        Args:
            before: a number; only attempts with lower numbers count.
        """
        query = f"""SELECT {ATTEMPT} FROM attempt JOIN submission USING (digest)
            WHERE student = ? AND mode = ? AND attempt.id < ? AND result IS NOT NULL
            ORDER BY attempt.id DESC LIMIT 1"""
        rows = self.rows(query, legible(student), mode, before)
        return attempt_of(rows[0]) if rows else None

    def versions(self) -> dict[str, int]:
        """Return how many different hand-ins of each student the runs have seen."""
        rows = self.rows("SELECT student, COUNT(*) FROM submission GROUP BY student")
        return {str(student): int(count) for student, count in rows}

    def setting(self, name: str) -> str | None:
        """Return a setting that an earlier run has stored; None if there is none."""
        rows = self.rows("SELECT value FROM setting WHERE name = ?", name)
        return str(rows[0][0]) if rows else None

    def choose(self, name: str, value: str) -> None:
        """Store a setting for later runs."""
        with self.change() as file:
            file.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, value))


def attempt_of(row: tuple[str, float, str, str | None, int]) -> Attempt:
    """Return an attempt from a row of a table; see ATTEMPT."""
    worker, seconds, problem, text, number = row
    return Attempt(worker, seconds, problem, None if text is None else json.loads(text), number)
