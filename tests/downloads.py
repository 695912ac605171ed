"""Bulk downloads of minBERT for tests: files with given names, and who handed them in."""

import datetime
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.classroom import standing
from tensormark.classroom.entry import HandIn
from tensormark.classroom.failure import FileError
from tensormark.classroom.jobs.store import Store
from tensormark.classroom.students import hand_ins
from tensormark.intake.given_files import GivenFiles

DEADLINE = datetime.datetime(2026, 11, 20, 23, 0, tzinfo=datetime.UTC)
GIVEN = GivenFiles(ASSIGNMENT, {})


def find(folder: Path, *people, **options) -> list[HandIn]:
    return hand_ins.find(folder, ASSIGNMENT.editable, *people, **options)


def handed_in(folder: Path, *names: str) -> Path:
    """Create files, or folders for names that end in a slash."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.write_text(f"# {name}\n", encoding="utf-8", errors="replace")
    return folder


def class_of(folder: Path, *people: Path) -> standing.Class:
    """Return a class, with what can be read of its hand-ins."""
    with Store(folder.parent / "store") as store:
        return standing.Class(find(folder, *people), GIVEN, store)


def by_student(found: list[HandIn]) -> dict[str, HandIn]:
    students = {hand_in.student: hand_in for hand_in in found}
    assert len(students) == len(found)
    return students


def names(hand_in: HandIn) -> list[str]:
    assert hand_in.path is not None
    return [hand_in.path.name, *(path.name for path in hand_in.others)]


def error(folder: Path, **options) -> str:
    with pytest.raises(FileError) as caught:
        find(folder, **options)
    return str(caught.value)


def listed(folder: Path, roster: str, *files: str) -> dict[str, HandIn]:
    """Return who handed in these files, according to a class list."""
    (folder / "roster.csv").write_text(roster, encoding="utf-8")
    return by_student(find(handed_in(folder / "in", *files), folder / "roster.csv"))
