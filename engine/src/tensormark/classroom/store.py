"""Everything that was graded, in one SQLite table with one writer.

A row's key is the digest of all that decides its result, so that a run does what is missing,
however the one before ended. A result is on disk when `keep` returns. SQLite's lock, which the
kernel releases with the process, keeps a second run out.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from tensormark.classroom.config import ADJUSTMENTS
from tensormark.classroom.config import FILE as CONFIG
from tensormark.classroom.find import handed_in
from tensormark.classroom.jobs import Result
from tensormark.usage import UserError, option

FILE = "results.sqlite"
OPENING = """
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, result TEXT NOT NULL);
"""
SECRET = "secret"  # the key of what the questions are drawn with


class Store:
    """The table."""

    def __init__(self, folder: Path) -> None:
        """Open it, or create it and the folder.

        Raises:
            UserError: another run is using it, or the folder is no class's or cannot be used.
        """
        self.path = folder / FILE
        with self._explained():
            folder.mkdir(parents=True, exist_ok=True)
            names = [path.name for path in handed_in(folder) if path.name != ADJUSTMENTS]
            if names and FILE not in names and CONFIG not in names:
                what = f"has {names[0]} in it and is no class's"
                raise UserError(f"{option('out', folder)}: {what}; name a new folder")
            self.file = sqlite3.connect(self.path, timeout=0, isolation_level=None)
            try:
                self.file.executescript(OPENING)
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
            reason = getattr(error, "strerror", None) or error
            why = f"cannot be written to ({reason}); free some space there, or name another folder"
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what SQLite adds to it
            if code == sqlite3.SQLITE_BUSY:
                why = "another run is writing there; wait for it"
            raise UserError(f"{option('out', self.path.parent)}: {why}") from error

    def get(self, key: str) -> Result | None:
        """Return the result that is kept under a key."""
        with self._explained():
            query = "SELECT result FROM results WHERE key = ?"
            row = self.file.execute(query, (key,)).fetchone()
        result: Result | None = json.loads(row[0]) if row else None
        return result

    def keep(self, key: str, result: Result) -> None:
        """Keep a result, in place of an earlier one."""
        with self._explained():
            values = (key, json.dumps(result))
            self.file.execute("INSERT OR REPLACE INTO results VALUES (?, ?)", values)

    def secret(self) -> bytes:
        """Return the class's secret, which is drawn once."""
        kept = self.get(SECRET)
        if kept is None:
            kept = {"secret": os.urandom(32).hex()}
            self.keep(SECRET, kept)
        return bytes.fromhex(kept["secret"])
