"""Recognize the files that students edit, even if their names were changed on the way.

In bulk downloads, learning platforms prepend the student's name; platforms and browsers append a
number; some systems write names in capitals.
"""

import functools
import re
from collections.abc import Sequence

MAX_NAME = 255  # characters; file systems allow no more
# what platforms write before the name that a student chose
CANVAS = "[0-9]+_[0-9]+"  # `lovelace_12345_678_main.py`
MOODLE = "assignsubmission_file"  # `Ada_123_assignsubmission_file_main.py`
BLACKBOARD = "attempt_[0-9]{4}(?:-[0-9]{2}){5}"  # `Lab_ada_attempt_2026-11-20-23-10-05_main.py`
PLATFORM = f".*_(?:{CANVAS}|{MOODLE}|{BLACKBOARD})_"
# `main-1.py`, `main (1).py`, `main - Copy.py`, `main copy 2.py`
COPY = r"-\d{1,6}|[ _]?\(\d{1,6}\)|(?: -)? copy(?: \(?\d{1,6}\)?)?"
ARCHIVES = tuple(".zip .tar .gz .tgz .xz .txz .bz2 .tbz .tbz2 .zst .tzst .7z .rar".split())
# what systems and tools leave beside other files; so they do with names that begin with a dot
LEFT_BEHIND = (
    "__MACOSX",
    "Icon\r",
    "Thumbs.db",
    "desktop.ini",
    "__pycache__",
    "venv",
    "node_modules",
)


@functools.cache
def _changed(file: str) -> re.Pattern[str]:
    """Return what matches the names that a file may have been given, in lower case."""
    stem = re.escape(file.removesuffix(".py").lower())
    return re.compile(rf"(?:copy of )?(?:{PLATFORM})?{stem}(?:{COPY})?\.py")


def target_of(name: str, editable: Sequence[str]) -> str | None:
    """Return the editable file that a file name stands for, or None.

    An inexact name only counts where the exact one is missing; see reading.py.
    """
    if name in editable:
        return name
    if len(name) <= MAX_NAME:
        for file in editable:
            if _changed(file).fullmatch(name.lower()):
                return file
    return None


def is_from_platform(name: str) -> bool:
    """Return whether a platform has put something before the name that a student chose."""
    return re.match(PLATFORM, name.lower()) is not None


def is_hidden(name: str) -> bool:
    """Return whether a file or folder in a submission is not the student's work."""
    return name in LEFT_BEHIND or name.startswith((".", "~$")) or name.endswith("Zone.Identifier")


def placeholder(name: str) -> str:
    """Return the name of what iCloud leaves of a file that is no longer on this disk."""
    return f".{name}.icloud"


def is_archive(name: str) -> bool:
    """Return whether a file is an archive by its name, readable here or not."""
    return name.lower().endswith(ARCHIVES)
