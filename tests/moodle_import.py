"""How Moodle and Canvas read an uploaded file, reimplemented from their importers.

Moodle's mod/assign/feedback/offline/importgradeslib.php and locallib.php, and
mod/assign/feedback/file/importziplib.php; Canvas's app/models/assignment.rb.
"""

import csv
import io
import re
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path


def moodle_grades(
    content: bytes, most: float = 100, delimiter: str = ",", held: Mapping[int, float] | None = None
) -> dict[int, float]:
    """Return the grades that Moodle changes, by participant."""
    text = content.decode("utf-8-sig")
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    grade, identifier = header.index("Grade"), header.index("Identifier")
    assert "Last modified (grade)" in header
    changed = {}
    for row in filter(None, rows):
        number = int(row[identifier].removeprefix("Participant "))
        value = row[grade].replace(",", ".")
        if value and 0 <= float(value) <= most:
            changed[number] = float(value)
    return {n: value for n, value in changed.items() if (held or {}).get(n) != value}


def moodle_files(path: Path, participants: Collection[int]) -> dict[int, tuple[str, bytes]]:
    """Return each participant's feedback file: the name that the student sees, and its content."""
    files: dict[int, tuple[str, bytes]] = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            parts = name.split("/")
            assert not parts[-1].startswith((".", "~"))
            while parts:
                words = parts.pop(0).split("_", 4)
                if len(words) < 4 or not words[1].isdecimal() or int(words[1]) not in participants:
                    continue
                assert words[2:4] == ["assignfeedback", "file"]
                assert int(words[1]) not in files
                own = "/".join([*words[4:], *parts])
                files[int(words[1])] = own, archive.read(name)
                break
            else:
                raise AssertionError(f"{name}: belongs to nobody")
    return files


def canvas_files(path: Path, attachments: Mapping[str, tuple[str, str]]) -> dict[str, bytes]:
    """Return the comment file that each student gets, by student and name.

    Args:
        attachments: the student and the file name, by the id of each file that was handed in.
    """
    files: dict[str, bytes] = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            words = [word for word in name.rpartition("/")[2].split("_") if word != "LATE"]
            if words[0] == "anon":
                student, attachment = words[1], words[2]
            else:
                student, attachment = [word for word in words if re.fullmatch("[0-9]+", word)][:2]
            owner, original = attachments[attachment]
            assert owner == student
            assert not words[-1].startswith("link")
            files[f"{student}/{original}"] = archive.read(name)
    return files
