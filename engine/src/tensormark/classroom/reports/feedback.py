"""What each student gets back: a folder with a page and the result from which it is made.

Nothing in it is private: whatever is for the instructor is left out and, with private references,
so is whatever could reveal an input. Files are written only if they change.
"""

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.classroom.earlier import Earlier
from tensormark.classroom.entry import Entry
from tensormark.classroom.marks import Marks
from tensormark.files import digest, sha256, write_whole
from tensormark.reports import html

FOLDER = "feedback"
PAGE, RESULT = "report.html", "results.json"
DRAWN = ".drawn"  # holds the version of the reports that made the pages
OURS = ".folders"  # lists in JSON the folders that runs wrote here
# the keys of a result, and of an exercise in it, that a student gets
RESULT_KEYS = (
    *("version", "assignment", "name", "mode", "only", "tier", "private", "references"),
    *("versions", "time", "score", "max_score", "bonus", "bonus_max_score", "notes", "printed"),
)
EXERCISE_KEYS = (
    *("id", "title", "file", "task", "outcome", "score", "max_score", "bonus", "mistake"),
    *("message", "findings", "note", "place", "handout", "measured"),
)
# limits on folder names, because students' names are arbitrary
LONGEST = 40  # characters of at most four bytes each; file systems allow 255 bytes
DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}
ALLOWED = "-_.@+"


def _for_student(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without what is for the instructor: its flags and the file's path.

    Unknown keys are left out as well.
    """
    copy: dict[str, Any] = {name: result[name] for name in RESULT_KEYS}
    copy |= {"submission": result["name"], "flags": []}
    copy["exercises"] = [
        {name: exercise[name] for name in EXERCISE_KEYS} | {"flags": []}
        for exercise in result["exercises"]
    ]
    if result["private"]:
        copy["printed"] = ""
        for exercise in copy["exercises"]:
            findings = [finding | {"excerpt": None} for finding in exercise["findings"]]
            exercise["findings"] = findings
    return copy


def _written(marks: Marks) -> dict[str, Any]:
    """Return what a student may see of the written answers: only what is settled."""
    questions = [
        {
            "id": mark.question.id,
            "title": mark.question.title,
            "score": None if mark.points is None else float(mark.points),
            "max_score": float(mark.question.most),
            "comments": [] if mark.points is None else mark.comments,
        }
        for mark in marks.marks
    ]
    score = None if marks.points is None else float(marks.points)
    return {"score": score, "max_score": float(marks.most), "questions": questions}


def version() -> str:
    """Return a digest of all the code that makes pages."""
    paths = sorted(Path(html.__file__).parent.glob("*.*"))
    return digest("".join(sha256(path) for path in (*paths, Path(__file__))).encode())


def _write_folder(folder: Path, entry: Entry, remake: bool) -> None:
    """Write a student's files if they change, or remove them.

    Args:
        remake: whether to remake the page even if the result is unchanged.
    """
    page, file = folder / PAGE, folder / RESULT
    if entry.result is None:
        file.unlink(missing_ok=True)
        page.unlink(missing_ok=True)
        return
    model = _for_student(entry.result)
    if entry.final is not None and entry.final.points is not None:
        model["final"] = {"points": entry.final.points, "steps": entry.final.steps}
    if entry.written is not None:
        model["written"] = _written(entry.written)
    text = (json.dumps(model) + "\n").encode()  # on one line, which is several times faster
    if remake or not page.exists() or not file.exists() or file.read_bytes() != text:
        write_whole(page, html.page(model, html.NO_HANDOUT))
        write_whole(file, text)  # last: its presence means a finished page


def _safe(name: str) -> str:
    """Return a name valid for a folder on every system: not a path, a device or hidden."""
    plain = unicodedata.normalize("NFC", name[: 4 * LONGEST])
    letters = "".join(char if char.isalnum() or char in ALLOWED else "_" for char in plain)
    letters = letters[:LONGEST].strip("._-") or "student"
    return f"_{letters}" if letters.partition(".")[0].casefold() in DEVICES else letters


def key(name: str) -> str:
    """Return a key that two names share if some file system treats them as the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def folder_names(students: Sequence[str]) -> list[str]:
    """Return a folder name for each student, all different on every file system.

    A student whose name is a valid folder name gets it unchanged; others get digits appended, which
    depend only on their own name and how often it occurred before.
    """
    occurrences: Counter[str] = Counter()
    marks = []
    for student in students:
        marks.append(f"{student}\0{occurrences[student]}".encode("utf-8", "surrogatepass"))
        occurrences[student] += 1
    plain = [_safe(student) for student in students]
    names = list(plain)
    for digits in (8, 16, 64):
        counts = Counter(map(key, names))
        for index, (student, mark) in enumerate(zip(students, marks, strict=True)):
            if counts[key(names[index])] > 1 or (digits == 8 and plain[index] != student):
                names[index] = f"{plain[index]}-{hashlib.sha256(mark).hexdigest()[:digits]}"
    return names


def _own_folders(file: Path) -> list[str]:
    """Return the folders that an earlier run wrote; none if that is unknown."""
    try:
        names = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return []
    return [name for name in names if Path(name).name == name and not name.startswith(".")]


def write_feedback(entries: Sequence[Entry], out: Path, earlier: Earlier) -> list[str]:
    """Write every student's folder below `out`; return the folders' paths, relative to it.

    Folders of students who are no longer among the entries are moved aside, and so are folders with
    a student's name that no run wrote. A student without a result has no folder, and the path "".
    """
    version_file, current = out / FOLDER / DRAWN, version()
    remake = not version_file.exists() or version_file.read_text("utf-8", "replace") != current
    names = folder_names([entry.hand_in.student for entry in entries])
    list_of_ours = out / FOLDER / OURS
    old_names = _own_folders(list_of_ours)
    others = (path.name for path in (out / FOLDER).glob("*") if path.name not in old_names)
    earlier.move(*(f"{FOLDER}/{name}" for name in sorted(set(old_names) - set(names))))
    earlier.move(*(f"{FOLDER}/{name}" for name in sorted(set(names).intersection(others))))
    if sorted(names) != old_names:  # before the folders, so that all are listed
        write_whole(list_of_ours, json.dumps(sorted(names)))
    for name, entry in zip(names, entries, strict=True):
        _write_folder(out / FOLDER / name, entry, remake)
    if remake:
        write_whole(version_file, current)
    pairs = zip(names, entries, strict=True)
    return [f"{FOLDER}/{name}" if entry.result else "" for name, entry in pairs]
