"""Bulk downloads of minBERT for tests: files of given names, and who has handed them in."""

from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.classroom import hand_ins
from tensormark.classroom.entry import HandIn
from tensormark.classroom.hand_ins import HandInError


def find(folder: Path, *people, **options) -> list[HandIn]:
    return hand_ins.find(folder, ASSIGNMENT.editable, *people, **options)


def handed_in(folder: Path, *names: str) -> Path:
    """Make files, or folders where a name ends in a slash."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text(f"# {name}\n", encoding="utf-8", errors="replace")
    return folder


def by_student(found: list[HandIn]) -> dict[str, HandIn]:
    assert len({one.student for one in found}) == len(found)
    return {one.student: one for one in found}


def names(one: HandIn) -> list[str]:
    assert one.path is not None
    return [one.path.name, *(path.name for path in one.others)]


def error(folder: Path, **options) -> str:
    with pytest.raises(HandInError) as caught:
        find(folder, **options)
    return str(caught.value)


def listed(folder: Path, roster: str, *files: str) -> dict[str, HandIn]:
    """Return who handed in files according to a list of the class."""
    (folder / "roster.csv").write_text(roster, encoding="utf-8")
    return by_student(find(handed_in(folder / "in", *files), folder / "roster.csv"))
