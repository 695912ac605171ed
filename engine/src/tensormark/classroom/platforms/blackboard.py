"""Blackboard.

Its download has `Project 1_alovelace_attempt_2026-11-20-23-10-05_main.py`: the assignment's title,
the student's login, the time and the name of a file. A note on the attempt ends in `.txt` after the
time. The student chooses only what follows the time.

Title and login may both have underscores, so what is before `_attempt_` is read in every way. The
title of most files decides; without a list, the shortest login does.

Its gradebook is downloaded with columns such as `Lab 1 [Total Pts: 100 Score] |12345`, and uploaded
again: Blackboard finds people by Username and columns by the number (its help on working offline).
A submission that waits for a mark is `Needs Grading` or `In Progress(80.00)`.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from tensormark.classroom.platforms.base import Platform, after_titles, moment
from tensormark.classroom.upload import Upload

NAMED = re.compile(
    r"(?P<attempt>(?P<head>.+?)_attempt_(?P<stamp>[0-9]{4}(?:-[0-9]{2}){5}))"
    r"(?:_(?P<file>.+)|\.txt)",
    re.S,
)
STAMP = "%Y-%m-%d-%H-%M-%S"


class Blackboard(Platform):
    """See the module."""

    name = "blackboard"
    wanted = "a list with a column username"
    grades = re.compile(r"(?P<name>.+) \[total pts: (?P<most>[0-9.,]+) .*\](?: \|[0-9]+)?", re.S)
    waiting = re.compile(r"-?|(?:needs grading|in progress).*", re.S | re.I)

    def is_list(self, titles: Sequence[str]) -> bool:
        """Return whether a title is that of a column of marks."""
        return any(map(self.grades.fullmatch, titles))

    def upload(self, path: Path) -> Upload | None:
        """Read a name; one of a note alone is what the student typed, not a file."""
        match = NAMED.fullmatch(path.name)
        if match is None:
            return None
        stamp = match["stamp"]
        file = match["file"] or ""
        claims = after_titles(match["head"], "_", "login")
        return Upload(path, claims, file, stamp, submitted=moment(stamp, STAMP), typed=not file)

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read all names; an attempt's note is left out if the attempt also has a file."""
        matches = [NAMED.fullmatch(path.name) for path in paths]
        notes = {f"{match['attempt']}.txt" for match in matches if match and match["file"]}
        return super().uploads([path for path in paths if path.name not in notes])
