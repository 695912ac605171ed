"""Everything that was graded, in one SQLite table with one writer.

A row's key is the digest of all that decides its result, so that a run does what is missing,
however the one before ended. A result is on disk when `keep` returns; a lock that the kernel
releases with the process keeps a second run out.
"""

import contextlib
import fcntl
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from tensormark.classroom.find import entries_of
from tensormark.classroom.worker import Answer
from tensormark.usage import UserError, option

FILE = "results.sqlite"
TABLE = """CREATE TABLE IF NOT EXISTS result (
    key TEXT PRIMARY KEY, seconds REAL NOT NULL, result TEXT NOT NULL
)"""
LOCK = ".lock"
SECRET = "secret"  # the key of what the questions are drawn with
ROOM = 1 << 20  # bytes; with less free, a disk counts as full, whatever SQLite calls the error


@contextlib.contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder, which is created if needed.

    Raises:
        UserError: another run is using it, it cannot be written to, or it holds something else.
    """
    argument = option("out", folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(path.name for path in entries_of(folder) if path.name != LOCK)
        if others and FILE not in others and "class.toml" not in others:
            raise UserError(
                f"{argument}: has {others[0]} in it and is no class's; name a new folder"
            )
        descriptor = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
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
    """The table."""

    def __init__(self, folder: Path) -> None:
        """Open it, or create it.

        Raises:
            UserError: the file is something else, or cannot be used.
        """
        self.path = folder / FILE
        with self._explained():
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))  # results are private
            self.file = sqlite3.connect(self.path, isolation_level=None)
            try:
                self.file.execute("PRAGMA journal_mode = WAL")
                self.file.execute("PRAGMA synchronous = FULL")
                self.file.execute(TABLE)
            except BaseException:
                self.file.close()
                raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite and the disk into a sentence."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
            if full or shutil.disk_usage(self.path.parent).free < ROOM:
                fix = "the disk is full; free some space, then run this again"
                raise UserError(f"{self.path}: {fix}") from error
            fix = f"name another {option('out')}"
            raise UserError(f"{self.path} cannot be used ({error}); {fix}") from error

    def get(self, key: str) -> Answer | None:
        """Return what is kept under a key."""
        with self._explained():
            query = "SELECT result, seconds FROM result WHERE key = ?"
            row = self.file.execute(query, (key,)).fetchone()
        return Answer(json.loads(row[0]), row[1]) if row else None

    def keep(self, key: str, answer: Answer) -> None:
        """Keep an answer, in place of an earlier one; it is on disk when this returns."""
        text = json.dumps(answer.result)
        with self._explained():
            values = (key, answer.seconds, text)
            self.file.execute("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", values)

    def secret(self) -> bytes:
        """Return the class's secret, which is drawn once."""
        answer = self.get(SECRET)
        if answer is None:
            answer = Answer({"secret": os.urandom(32).hex()}, 0.0)
            self.keep(SECRET, answer)
        return bytes.fromhex(str(answer.result["secret"]))
