"""The file names in a Blackboard bulk download, and the notes that it puts beside the files.

In `Project 1_alovelace_attempt_2026-11-20-23-10-05_main.py`, the title is the assignment's and the
login is set by the system, so that the student chooses only what follows the time.
"""

import datetime
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tensormark.classroom.students.bulk_names import canvas_readings, moodle_readings
from tensormark.classroom.students.upload import BLACKBOARD, Upload
from tensormark.files import opened_regular

# a name without a file's is that of a note, in .txt
NAME = re.compile(
    r"(?P<head>.+?)_attempt_(?P<stamp>[0-9]{4}(?:-[0-9]{2}){5})(?:_(?P<file>.+)|(?P<note>\.txt))",
    re.S,
)
NOTE_NAME = re.compile(r"Name: *(.{1,200}) \(([^()\s]{1,200})\) *", re.I)
NOTE_BYTES = 4096  # of a note that are read


def _moment(stamp: str) -> datetime.datetime | None:
    """Return the time in a name, assumed to be in this machine's time zone."""
    try:
        return datetime.datetime.strptime(stamp, "%Y-%m-%d-%H-%M-%S").astimezone()
    except (ValueError, OverflowError):
        return None


def _note(path: Path) -> tuple[str, str] | None:
    try:
        with opened_regular(path) as file:
            first = file.read(NOTE_BYTES).decode("utf-8-sig", "replace").splitlines()[:1]
    except OSError:
        return None
    match = NOTE_NAME.fullmatch(first[0]) if first else None
    return (match[1], match[2]) if match else None


def _people(matches: Sequence[tuple[Path, re.Match[str]]]) -> dict[str, tuple[str, str]]:
    """Return the name and login for each text before `_attempt_`, which begins with a title.

    The title is the common beginning of all texts with the same first word, so that a file with
    another title does not affect them. Two texts never become one student.
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
    """Return the paths with names by Blackboard, unless another platform prefixed them.

    A student's own file name may look like Blackboard's. The whole is Moodle's if Moodle put
    something before it, and Canvas's if it can be read so and other names are Canvas's, too.
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
    """Read Blackboard's names; an attempt's note is left out if the attempt also has a file."""
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
