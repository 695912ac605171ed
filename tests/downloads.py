"""Bulk downloads for tests: files of given names, and who is found to have handed them in."""

from pathlib import Path

import pytest

from instructor.course.entry import HandIn
from instructor.course.hand_ins import HandInError, find


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
