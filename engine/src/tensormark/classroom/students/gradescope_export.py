"""Read Gradescope's submission_metadata.yml: who submitted each folder of an export, and when.

Ruby writes it with the few keys needed here at fixed depths, so it is read line by line. Everything
else, such as results of earlier runs, is skipped unparsed, because it may be large and contains
students' text. A text of several lines is skipped to its end, so that none of its lines is taken
for a key.
"""

import contextlib
import datetime
import errno
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tensormark.classroom.students.upload import GRADESCOPE, Upload
from tensormark.files import opened_regular

METADATA = "submission_metadata.yml"
LINE = 4096  # bytes of a line that are read; the rest is skipped
LARGEST = 256 << 20  # bytes
IDS = ("sid", "email")
KEY = re.compile(r"( *)((?:- )*):?([\w-]{1,60}):(?: +(.*))?$")
ITEM = re.compile(r"( *)((?:- )*)(.*)$")
BLOCK = re.compile(r"(?:[!&]\S+ +)*[|>][0-9+-]{0,2}$")
QUOTED = re.compile(r"(?:[!&]\S+ +)*(?=['\"])")
STAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,6})?\d* *(Z|UTC|[+-]\d\d:?\d\d)?", re.A
)


@dataclass
class Submitted:
    """One folder of an export: its name, who submitted it, and when."""

    folder: str
    submitters: list[dict[str, str]] = field(default_factory=list)
    submitted: datetime.datetime | None = None


def scalar(text: str) -> str:
    """Return a YAML scalar as text; one in an unknown notation is returned as it is."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        escaped = re.sub(r"\\x([0-9A-Fa-f]{2})", r"\\u00\1", text).replace("\\e", "\\u001b")
        with contextlib.suppress(ValueError):
            return str(json.loads(escaped))
        return text[1:-1]
    return "" if text in ("~", "null") else text


def moment(text: str) -> datetime.datetime | None:
    """Parse a time, by default in this machine's time zone; return None if it is not one."""
    if not (match := STAMP.match(text.strip().strip("'\""))):
        return None
    date, clock, fraction, zone = match.groups()
    zone = "+00:00" if zone in ("Z", "UTC") else zone or ""
    try:
        return datetime.datetime.fromisoformat(f"{date}T{clock}{fraction or ''}{zone}").astimezone()
    except (ValueError, OverflowError):
        return None


def _pieces(path: Path) -> Iterator[tuple[bool, str]]:
    """Yield a file in lines, with long ones in pieces, and whether each piece begins a line.

    No piece ends between the two characters of an escape.
    """
    begins, left = True, LARGEST
    with opened_regular(path) as file:
        while raw := bytearray(file.readline(LINE)):
            while raw.endswith((b"'", b'"', b"\\")) and (more := file.read(1)):
                raw += more
            if (left := left - len(raw)) < 0:
                raise OSError(errno.EFBIG, f"larger than {LARGEST >> 20} MiB", str(path))
            yield begins, raw.decode("utf-8", "replace").rstrip("\r\n")
            begins = raw.endswith(b"\n")


def _closes(text: str, quote: str) -> bool:
    return quote in re.sub("''" if quote == "'" else r"\\.", "", text)


def _open_quote(value: str) -> str:
    """Return the quote that a value opens without closing it, or ""."""
    begin = QUOTED.match(value)
    rest = value[begin.end() :] if begin else ""
    return rest[:1] if rest and not _closes(rest[1:], rest[0]) else ""


def _lines(path: Path) -> Iterator[str]:
    """Yield the beginning of every line, treating a quoted text of several lines as one line.

    Lines that belong to a block of text are left out.
    """
    text, quote, block = "", "", -1  # block: the depth of the key to which it belongs
    for begins, piece in _pieces(path):
        if quote:
            text = f"{text} {piece.strip()}"[:LINE]
            quote = "" if _closes(piece, quote) else quote
            if not quote:
                yield text
            continue
        depth = len(piece) - len(piece.lstrip(" "))
        if not begins or (block >= 0 and (depth > block or not piece.strip())):
            continue
        text, (_, dashes, value) = piece, _parts(piece)
        block = depth + len(dashes) if BLOCK.match(value) else -1
        quote = _open_quote(value)
        if not quote:
            yield text


def _parts(line: str) -> tuple[int, str, str]:
    """Return a line's depth, the dashes before its key, and its value or else all its text."""
    if match := KEY.match(line):
        return len(match[1]), match[2], match[4] or ""
    item = ITEM.match(line)
    assert item is not None
    # a text in a list belongs to the dash, not to what follows it
    return len(item[1]), item[2][:-2], item[3]


def read_metadata(path: Path) -> list[Submitted]:
    """Read who submitted what.

    Raises:
        OSError: the file cannot be read, or is too large.
    """
    submissions: list[Submitted] = []
    section, item_depth = "", -1
    for line in _lines(path):
        if not (key := KEY.match(line)):
            continue
        depth, item, name, value = len(key[1]), bool(key[2]), key[3], key[4] or ""
        if depth == 0 and not item:
            submissions.append(Submitted(name))
            section = ""
            continue
        if not submissions:
            continue
        if depth == 2 and not item:
            section, item_depth = name, -1
        if section == "created_at" and (name == "created_at" or (depth == 4 and name == "utc")):
            submissions[-1].submitted = moment(value) or submissions[-1].submitted
        elif section == "submitters" and item and depth in (2, 4) and item_depth in (-1, depth):
            item_depth = depth
            submissions[-1].submitters.append({name: scalar(value)})
        elif section == "submitters" and not item and depth == item_depth + 2 > 2:
            submissions[-1].submitters[-1].setdefault(name, scalar(value))
    return submissions


def _shared_ids(submissions: Sequence[Submitted]) -> set[tuple[str, str]]:
    """Return the ids and addresses that several people gave, which therefore identify nobody.

    People may type any student ID, even somebody's address, but an address belongs to an account.
    """
    people = {
        tuple(who.get(key, "").strip() for key in IDS)
        for submission in submissions
        for who in submission.submitters
    }
    ids, addresses = Counter(sid for sid, _ in people), Counter(email for _, email in people)
    return {("sid", text) for text, count in ids.items() if count > 1 or text in addresses} | {
        ("email", text) for text, count in addresses.items() if count > 1
    }


def by_gradescope(folder: Path, submissions: Sequence[Submitted]) -> list[Upload]:
    """Return an upload for each submitter of an export; every team member gets the team's."""
    uploads, shared = [], _shared_ids(submissions)
    for submission in submissions:
        for who in submission.submitters or [{}]:
            given = {key: who.get(key, "").strip() for key in IDS}
            keys = tuple(text for key, text in given.items() if text and (key, text) not in shared)
            name = who.get("name") or submission.folder
            doubtful = ", ".join(t for key, t in given.items() if t and (key, t) in shared)
            uploads.append(
                Upload(
                    student=keys[0] if keys else f"{name}_{submission.folder}",
                    name=name,
                    path=folder / submission.folder,
                    keys=keys,
                    attempt=submission.folder,
                    submitted=submission.submitted,
                    kind=GRADESCOPE,
                    id=given["sid"] if ("sid", given["sid"]) in shared else "",
                    notes=(f"several people on Gradescope have {doubtful}",) if doubtful else (),
                )
            )
    return uploads
