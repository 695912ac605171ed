"""Recognize the files that students edit, even if their names were changed on the way.

In bulk downloads, learning platforms prepend the student's name; platforms and browsers append a
number; some systems write names in capitals. Each step here takes time linear in a name's length.
"""

import re
from collections.abc import Sequence

MAX_NAME = 255  # characters; file systems allow no more
# `main-1.py`, `main (1).py`, `main - Copy.py`, `main copy 2.py`
COPY = re.compile(r"(?:-\d{1,6}|[ _]?\(\d{1,6}\)|(?: -)? copy(?: \(?\d{1,6}\)?)?)$")
COPY_OF = "copy of "
STAMP = re.compile(r"\d{4}(?:-\d\d){5}")
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".xz", ".txz", ".bz2", ".7z", ".rar")
LEFT_BEHIND = {
    *("__MACOSX", "Icon\r", "Thumbs.db", "desktop.ini", "__pycache__", "venv", "node_modules"),
    *(".DS_Store", ".localized", ".directory", ".Spotlight-V100", ".Trashes", ".fseventsd"),
    *(".git", ".gitignore", ".gitattributes", ".gitkeep", ".hg", ".svn", ".idea", ".vscode"),
    *(".venv", ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
}
LEFT_BEGINNINGS = ("~$", ".~lock.", ".nfs", ".fuse_hidden", ".Trash-")


def _is_number(text: str) -> bool:
    """Say whether a text consists of ASCII digits only."""
    return text.isascii() and text.isdecimal()


def _is_platform_prefix(prefix: str) -> bool:
    """Say whether a platform prepends such a text to a student's file name; it is in lower case.

    Canvas writes `lovelace_12345_678_`, Moodle `Ada Lovelace_123_assignsubmission_file_`, and
    Blackboard `Project_ada_attempt_2026-11-20-23-10-05_`.
    """
    *before, second, first, rest = ("", "", "", *prefix.split("_"))
    if rest or not before[3:]:
        return False
    return (
        (second, first) == ("assignsubmission", "file")
        or (_is_number(second) and _is_number(first))
        or (second == "attempt" and STAMP.fullmatch(first) is not None)
    )


def target_of(name: str, editable: Sequence[str]) -> str | None:
    """Return the editable file that a file name stands for, or None.

    An inexact name only counts where the exact one is missing; see search.py.
    """
    if name in editable:
        return name
    lower = name.lower()
    if len(name) > MAX_NAME or not lower.endswith(".py"):
        return None
    stem = COPY.sub("", lower.removesuffix(".py")).removeprefix(COPY_OF)
    for file in editable:
        own = file.removesuffix(".py").lower()
        if stem.endswith(own):
            prefix = stem[: len(stem) - len(own)]
            if not prefix or _is_platform_prefix(prefix):
                return file
    return None


def is_of_system(name: str) -> bool:
    """Say whether a file or folder is one that systems and tools leave beside others."""
    return (
        name in LEFT_BEHIND or name.startswith(LEFT_BEGINNINGS) or name.endswith("Zone.Identifier")
    )


def is_hidden(name: str) -> bool:
    """Say whether a file or folder in a hand-in is not the student's work."""
    return name.startswith(".") or is_of_system(name)


def is_archive(name: str) -> bool:
    """Say whether a file is an archive by its name, readable here or not."""
    return name.lower().endswith(ARCHIVES)
