"""The names that Blackboard gives files in a bulk download, and the notes that it puts beside them.

`Project 1_alovelace_attempt_2026-11-20-23-10-05_main.py`: the title is the assignment's and the
login the system's, so that a student chooses only what stands behind the time.
"""

import datetime
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tensormark.classroom.bulk_names import canvas_readings, moodle_readings
from tensormark.classroom.upload import BLACKBOARD, Upload
from tensormark.files import opened_regular

# without a file's name, a note in .txt
NAME = re.compile(
    r"(?P<head>.+?)_attempt_(?P<stamp>[0-9]{4}(?:-[0-9]{2}){5})(?:_(?P<file>.+)|(?P<note>\.txt))",
    re.S,
)
NOTE_NAME = re.compile(r"Name: *(.{1,200}) \(([^()\s]{1,200})\) *", re.I)
NOTE = 4096  # bytes of a note that are read


def _moment(stamp: str) -> datetime.datetime | None:
    """Return the time in a name, which is this machine's as far as is known."""
    try:
        return datetime.datetime.strptime(stamp, "%Y-%m-%d-%H-%M-%S").astimezone()
    except (ValueError, OverflowError):
        return None


def _note(path: Path) -> tuple[str, str] | None:
    try:
        with opened_regular(path) as file:
            first = file.read(NOTE).decode("utf-8-sig", "replace").splitlines()[:1]
    except OSError:
        return None
    match = NOTE_NAME.fullmatch(first[0]) if first else None
    return (match[1], match[2]) if match else None


def _people(matches: Sequence[tuple[Path, re.Match[str]]]) -> dict[str, tuple[str, str]]:
    """Return the name and login for what stands before `_attempt_`, which begins with a title.

    The title is what all begin with that have their first word in common; a file that is called
    otherwise changes nothing for them. Two of them never become one student.
    """
    heads = sorted({match["head"] for _, match in matches})
    owners: dict[str, tuple[str, str]] = {}
    for _, group in itertools.groupby(heads, key=lambda head: head.partition("_")[0]):
        similar = list(group)
        equal_letters = itertools.takewhile(
            lambda pair: pair[0] == pair[1], zip(similar[0], similar[-1], strict=False)
        )
        title = "".join(letter for letter, _ in equal_letters).rfind("_") + 1
        owners |= {head: (head[title:] or head, head[title:] or head) for head in similar}
    for path, match in matches:
        note = _note(path) if match["note"] else None
        if note and match["head"].endswith(f"_{note[1]}"):
            owners[match["head"]] = note
    counts = Counter([*heads, *(login for head, (_, login) in owners.items() if login != head)])
    return {head: who if counts[who[1]] == 1 else (head, head) for head, who in owners.items()}


def named_by_blackboard(paths: Sequence[Path]) -> dict[Path, re.Match[str]]:
    """Return the names of Blackboard, unless they stand behind those of another system.

    What a student called a file may look like a name of Blackboard's; if Canvas or Moodle has put
    something before it, or names of Canvas are beside it, that is what it is.
    """
    matches = {path: match for path in paths if (match := NAME.fullmatch(path.name))}
    canvas = any(canvas_readings(path.name) for path in paths if path not in matches)
    return {
        path: match
        for path, match in matches.items()
        if not any(len(reading.name) < len(match["head"]) for reading in moodle_readings(path.name))
        and not (canvas and canvas_readings(path.name))
    }


def by_blackboard(matches: Sequence[tuple[Path, re.Match[str]]]) -> list[Upload]:
    """Read names of Blackboard; the note of an attempt is left out if there is a file besides."""
    owners = _people(matches)
    with_files = {(match["head"], match["stamp"]) for _, match in matches if match["file"]}
    uploads = []
    for path, match in matches:
        head, stamp, file = match["head"], match["stamp"], match["file"] or ""
        if file or (head, stamp) not in with_files:
            name, login = owners[head]
            uploads.append(
                Upload(
                    student=login,
                    name=name,
                    path=path,
                    file=file,
                    attempt=stamp,
                    submitted=_moment(stamp),
                    kind=BLACKBOARD,
                )
            )
    return uploads
