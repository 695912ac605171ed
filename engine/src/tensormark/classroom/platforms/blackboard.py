"""Blackboard.

Its download has `Project 1_alovelace_attempt_2026-11-20-23-10-05_main.py`, and for each attempt a
note that ends in `.txt` where a file's name would follow. The title is the assignment's, and the
system sets the login, so that the student chooses only what follows the time. Both may have
underscores, so a name is read in every way that fits all of them, and the list decides.
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

    name = "blackboard"  # without a list, the shortest login that fits is taken

    def claims(self, path: Path) -> list[Claim]:
        """Return a claim for the login, which may contain underscores as a title may."""
        match = NAMED.fullmatch(path.name)
        return [Claim(match["head"])] if match else []

    def uploads(self, paths: Sequence[Path]) -> list[Upload]:
        """Read all names; an attempt's note is left out if the attempt also has a file.

        The title of the assignment is what the names begin with in common, up to any underscore.
        """
        matches = {path: match for path in paths if (match := NAMED.fullmatch(path.name))}
        heads = sorted({match["head"] for match in matches.values()})
        common = common_beginning(heads) if heads else ""
        ends = [place + 1 for place, letter in enumerate(common) if letter == "_"]
        files = Counter((m["head"], m["stamp"]) for m in matches.values() if m["file"])
        uploads = [own_name(path) for path in paths if path not in matches]
        for path, match in matches.items():
            head = match["head"]
            stamp = match["stamp"]
            if match["note"] and files[head, stamp]:
                continue
            logins = [head[end:] for end in reversed(ends) if head[end:]] or [head]
            uploads.append(
                Upload(
                    path,
                    tuple(Claim(login, {"login": login}, login) for login in logins),
                    file=match["file"] or "",
                    attempt=stamp,
                    submitted=_moment(stamp),
                )
            )
        return uploads
