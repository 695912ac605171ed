"""Names of folders for students, whose own names are whatever they like."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Sequence

LONGEST = 40  # characters, at most four bytes each; file systems allow 255 bytes
DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}
ALLOWED = "-_.@+"


def safe(name: str) -> str:
    """Return a name that is one folder's on every system: no path, no device, nothing hidden."""
    plain = unicodedata.normalize("NFC", name[: 4 * LONGEST])
    kept = "".join(char if char.isalnum() or char in ALLOWED else "_" for char in plain)
    kept = kept[:LONGEST].strip("._-") or "student"
    return f"_{kept}" if kept.partition(".")[0].casefold() in DEVICES else kept


def key(name: str) -> str:
    """Return what two names share if some file system takes them for one."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def folder_names(students: Sequence[str]) -> list[str]:
    """Return a folder's name for each student, all different wherever they are written.

    A student who may be called what the folder is has it; others get some digits besides, which
    depend on nothing but their own name and how often it came before.
    """
    seen: Counter[str] = Counter()
    marks = []
    for student in students:
        marks.append(f"{student}\0{seen[student]}".encode("utf-8", "surrogatepass"))
        seen[student] += 1
    plain = [safe(student) for student in students]
    made = list(plain)
    for digits in (8, 16, 64):
        often = Counter(map(key, made))
        for place, (student, mark) in enumerate(zip(students, marks, strict=True)):
            if often[key(made[place])] > 1 or (digits == 8 and plain[place] != student):
                made[place] = f"{plain[place]}-{hashlib.sha256(mark).hexdigest()[:digits]}"
    return made
