"""What each student gets back: a folder with a page and the result from which it is made.

Nothing in it is private: whatever is for staff is left out and, with private references, so is
whatever could reveal an input.
"""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tensormark.classroom.entry import Entry
from tensormark.files import digest, write_whole
from tensormark.reports import html, pages
from tensormark.reports.platforms import comments
from tensormark.reports.text import visible

FOLDER = "feedback"
PAGE = "report.html"
RESULT = "results.json"
TEMPLATES = Path(__file__).with_name("templates")
UNSEEN = ("name", "submission", "tier", "references", "versions", "time")  # for what changes there
# the keys of a result, and of an exercise in it, that a student gets
RESULT_KEYS = (
    "version",
    "assignment",
    "name",
    "mode",
    "only",
    "tier",
    "private",
    "references",
    "versions",
    "time",
    "score",
    "max_score",
    "bonus",
    "bonus_max_score",
    "notes",
    "printed",
)
EXERCISE_KEYS = (
    "id",
    "title",
    "file",
    "task",
    "outcome",
    "score",
    "max_score",
    "bonus",
    "mistake",
    "message",
    "findings",
    "note",
    "handout",
    "measured",
)
# limits on folder names, because students' names are arbitrary
LONGEST = 40  # characters of at most four bytes each; file systems allow 255 bytes
DEVICE = re.compile("con|prn|aux|nul|(?:com|lpt)[0-9]", re.I)  # of Windows
DIGIT_COUNT = 16  # that are appended to a name, so that nobody finds another's
DIGITS = re.compile(rf"-[0-9a-f]{{{DIGIT_COUNT}}}\Z", re.I)


def for_student(entry: Entry) -> dict[str, Any]:
    """Return an entry's result without what is for staff, its flags and path, or why there is none.

    Keys that are not known to be for students are left out as well.
    """
    result = entry.result
    final = {"points": entry.points, "steps": entry.steps}
    if result is None:
        why = entry.problem if entry.path else entry.kind  # without a path, it may name others
        return {"problem": why, "final": final}
    copy: dict[str, Any] = {name: result[name] for name in RESULT_KEYS}
    copy |= {"submission": result["name"], "flags": []}
    copy["exercises"] = [
        {name: exercise[name] for name in EXERCISE_KEYS} | {"flags": []}
        for exercise in result["exercises"]
    ]
    if result["private"]:
        copy["printed"] = ""
        for exercise in copy["exercises"]:
            exercise["findings"] = [each | {"excerpt": None} for each in exercise["findings"]]
    if entry.steps and entry.points is not None:
        copy["final"] = final
    return copy


def _safe(name: str) -> str:
    """Return a name valid for a folder on every system: not a path, a device or hidden."""
    plain = unicodedata.normalize("NFC", name)
    letters = re.sub(r"[^\w@+.-]", "_", plain)[:LONGEST].strip("._-")
    is_device = DEVICE.fullmatch(letters.partition(".")[0])
    return f"_{letters}" if is_device or not letters else letters


def _key(name: str) -> str:
    """Return a key that two names share if some file system treats them as the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def folder_names(students: Sequence[str]) -> list[str]:
    """Return a folder name for each student, all different on every file system.

    A student whose name is a valid folder name gets it unchanged; others get digits appended, which
    depend only on their own name.

    Args:
        students: all different.
    """
    plain = [_safe(student) for student in students]
    counts = Counter(map(_key, plain))
    return [
        name
        if name == student and counts[_key(name)] == 1 and not DIGITS.search(name)
        else f"{name}-{digest(student.encode('utf-8', 'surrogatepass'))[:DIGIT_COUNT]}"
        for name, student in zip(plain, students, strict=True)
    ]


def as_comments(entry: Entry) -> str:
    """Return what a student gets as Python comments."""
    model = for_student(entry)
    if entry.result is not None:
        return comments(model)
    return "".join(f"# {visible(line)}\n" for line in (model["problem"], *model["final"]["steps"]))


def _essence(text: str) -> dict[str, Any]:
    """Return what matters to a student of a file that was written for them."""
    return {key: value for key, value in json.loads(text).items() if key not in UNSEEN}


def write(entries: Sequence[Entry], out: Path, before: Path) -> None:
    """Write everybody's folder below `out`, and note where it is, if there is something to say.

    Args:
        before: where an earlier run wrote the same; note whose has changed since.

    Raises:
        OSError: a file cannot be written.
    """
    names = folder_names([entry.student for entry in entries])
    for entry, name in zip(entries, names, strict=True):
        if not entry.is_for_student:
            continue
        entry.folder = name
        model = for_student(entry)
        if entry.result is None:
            page = pages.page("Not graded", TEMPLATES / "unread.html.j2", model=model)
        else:
            page = html.page(model, html.NO_HANDOUT)
        text = json.dumps(model) + "\n"
        old = before / FOLDER / name / RESULT
        entry.changed = not old.exists() or _essence(old.read_text("utf-8")) != _essence(text)
        write_whole(out / FOLDER / name / PAGE, page)
        write_whole(out / FOLDER / name / RESULT, text)
