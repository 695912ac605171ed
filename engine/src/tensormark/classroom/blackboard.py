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
from tensormark.classroom.found import BLACKBOARD, Found
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
    found = NOTE_NAME.fullmatch(first[0]) if first else None
    return (found[1], found[2]) if found else None


def _people(named: Sequence[tuple[Path, re.Match[str]]]) -> dict[str, tuple[str, str]]:
    """Return the name and login for what stands before `_attempt_`, which begins with a title.

    The title is what all begin with that have their first word in common; a file that is called
    otherwise changes nothing for them. Two of them never become one student.
    """
    heads = sorted({found["head"] for _, found in named})
    known: dict[str, tuple[str, str]] = {}
    for _, group in itertools.groupby(heads, key=lambda head: head.partition("_")[0]):
        same = list(group)
        pairs = itertools.takewhile(
            lambda pair: pair[0] == pair[1], zip(same[0], same[-1], strict=False)
        )
        title = "".join(one for one, _ in pairs).rfind("_") + 1
        known |= {head: (head[title:] or head, head[title:] or head) for head in same}
    for path, found in named:
        note = _note(path) if found["note"] else None
        if note and found["head"].endswith(f"_{note[1]}"):
            known[found["head"]] = note
    often = Counter([*heads, *(login for head, (_, login) in known.items() if login != head)])
    return {head: who if often[who[1]] == 1 else (head, head) for head, who in known.items()}


def named_by_blackboard(paths: Sequence[Path]) -> dict[Path, re.Match[str]]:
    """Return the names of Blackboard, unless they stand behind those of another system.

    What a student called a file may look like a name of Blackboard's; if Canvas or Moodle has put
    something before it, or names of Canvas are beside it, that is what it is.
    """
    named = {path: found for path in paths if (found := NAME.fullmatch(path.name))}
    canvas = any(canvas_readings(path.name) for path in paths if path not in named)
    return {
        path: found
        for path, found in named.items()
        if not any(len(one.name) < len(found["head"]) for one in moodle_readings(path.name))
        and not (canvas and canvas_readings(path.name))
    }


def by_blackboard(named: Sequence[tuple[Path, re.Match[str]]]) -> list[Found]:
    """Read names of Blackboard; the note of an attempt is left out if there is a file besides."""
    known = _people(named)
    with_files = {(found["head"], found["stamp"]) for _, found in named if found["file"]}
    made = []
    for path, found in named:
        head, stamp, file = found["head"], found["stamp"], found["file"] or ""
        if file or (head, stamp) not in with_files:
            name, login = known[head]
            made.append(
                Found(
                    student=login,
                    name=name,
                    path=path,
                    file=file,
                    attempt=stamp,
                    submitted=_moment(stamp),
                    kind=BLACKBOARD,
                )
            )
    return made
