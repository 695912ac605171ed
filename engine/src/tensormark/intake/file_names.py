"""Which of the files that students edit a name stands for, whatever has changed it on its way.

Learning platforms put the student before it in a bulk download, they and browsers a number behind
it, and systems write it in capitals. Each step here takes time in proportion to a name's length.
"""

import re
from collections.abc import Sequence

LONGEST = 255  # characters of a name that a system allows
# `main-1.py`, `main (1).py`, `main - Copy.py`, `main copy 2.py`
COPY = re.compile(r"(?:-\d{1,6}|[ _]?\(\d{1,6}\)|(?: -)? copy(?: \(?\d{1,6}\)?)?)$")
COPY_OF = "copy of "
STAMP = re.compile(r"\d{4}(?:-\d\d){5}")
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".xz", ".txz", ".bz2", ".7z", ".rar")
NOT_SEARCHED = {"__MACOSX", "__pycache__", "venv", "node_modules"}


def _is_number(text: str) -> bool:
    """Say whether a text is digits, as platforms write them."""
    return text.isascii() and text.isdecimal()


def _is_platforms(beginning: str) -> bool:
    """Say whether a platform has put this before a student's file name, in lower case.

    Canvas writes `lovelace_12345_678_`, Moodle `Ada Lovelace_123_assignsubmission_file_`, and
    Blackboard `Project_ada_attempt_2026-11-20-23-10-05_`.
    """
    *before, second, first, rest = ("", "", "", *beginning.split("_"))
    if rest or not before[3:]:
        return False
    return (
        (second, first) == ("assignsubmission", "file")
        or (_is_number(second) and _is_number(first))
        or (second == "attempt" and STAMP.fullmatch(first) is not None)
    )


def wanted(name: str, editable: Sequence[str]) -> str | None:
    """Return the editable file that a file name stands for, or None.

    A name that is not exactly the file's stands for it where no other is; see search.py.
    """
    if name in editable:
        return name
    lower = name.lower()
    if len(name) > LONGEST or not lower.endswith(".py"):
        return None
    stem = COPY.sub("", lower.removesuffix(".py")).removeprefix(COPY_OF)
    for file in editable:
        own = file.removesuffix(".py").lower()
        if stem.endswith(own):
            beginning = stem[: len(stem) - len(own)]
            if not beginning or _is_platforms(beginning):
                return file
    return None


def is_hidden(name: str) -> bool:
    """Say whether a file or folder is one that systems and tools add by themselves."""
    return name.startswith(".") or name in NOT_SEARCHED


def is_archive(name: str) -> bool:
    """Say whether a file calls itself an archive, of a kind that can be read or not."""
    return name.lower().endswith(ARCHIVES)
