"""Blackboard.

Its download has `Project 1_alovelace_attempt_2026-11-20-23-10-05_main.py`, and for each attempt a
note that ends in `.txt` where a file's name would follow. The title is the assignment's, and the
system sets the login, so that the student chooses only what follows the time.
"""

import datetime
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tensormark.classroom.hand_in import Claim, Upload
from tensormark.classroom.platforms.base import Platform, common_beginning, own_name

NAMED = re.compile(
    r"(?P<head>.+?)_attempt_(?P<stamp>[0-9]{4}(?:-[0-9]{2}){5})(?:_(?P<file>.+)|(?P<note>\.txt))",
    re.S,
)


def _moment(stamp: str) -> datetime.datetime | None:
    """Return the time in a name, assumed to be in this machine's time zone."""
    try:
        return datetime.datetime.strptime(stamp, "%Y-%m-%d-%H-%M-%S").astimezone()
    except (ValueError, OverflowError):
        return None


class Blackboard(Platform):
    """See the module."""

    name = "blackboard"
    chosen_by_students = False

    def claims(self, path: Path) -> list[Claim]:
        """Return a claim for the login, which may contain underscores as a title may."""
        match = NAMED.fullmatch(path.name)
        return [Claim(match["head"])] if match else []

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read all names; an attempt's note is left out if the attempt also has a file.

        The title of the assignment is what the names begin with in common, up to an underscore.
        """
        matches = {path: match for path in paths if (match := NAMED.fullmatch(path.name))}
        heads = sorted({match["head"] for match in matches.values()})
        title = common_beginning(heads).rfind("_") + 1
        if len(heads) == 1:
            title = heads[0].rfind("_") + 1
        files = Counter((m["head"], m["stamp"]) for m in matches.values() if m["file"])
        uploads = [own_name(path) for path in paths if path not in matches]
        for path, match in matches.items():
            head, stamp = match["head"], match["stamp"]
            if match["note"] and files[head, stamp]:
                continue
            login = head[title:] or head
            uploads.append(
                Upload(
                    path,
                    (Claim(login, {"login": login}, login),),
                    file=match["file"] or "",
                    attempt=stamp,
                    submitted=_moment(stamp),
                )
            )
        return uploads
