"""Gradescope's submission_metadata.yml: who submitted each folder of an export, and when.

Ruby writes it, and the few keys that are needed stand at fixed depths, so that they are read line
by line. Whatever else is in it, such as results of earlier runs, is passed over unparsed: it may be
large, and holds text of students'.
"""

import contextlib
import datetime
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

METADATA = "submission_metadata.yml"
LINE = 4096  # bytes of a line that are read; the rest of it is passed over
KEY = re.compile(r"( *)(- )?:?([\w-]{1,60}):(?: +(.*))?$")
STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,6})?\d* *(Z|UTC|[+-]\d\d:?\d\d)?")


@dataclass
class Submitted:
    """One folder of an export: its name, who submitted it, and when."""

    folder: str
    submitters: list[dict[str, str]] = field(default_factory=list)
    submitted: datetime.datetime | None = None


def scalar(text: str) -> str:
    """Return a scalar of YAML as text; one that is written in a way not known stays as it is."""
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
    """Return a time; without a zone it is this machine's. None if it is not one."""
    if not (found := STAMP.match(text.strip().strip("'\""))):
        return None
    date, clock, fraction, zone = found.groups()
    zone = "+00:00" if zone in ("Z", "UTC") else zone or ""
    try:
        return datetime.datetime.fromisoformat(f"{date}T{clock}{fraction or ''}{zone}").astimezone()
    except (ValueError, OverflowError):
        return None


def lines(path: Path) -> Iterator[str]:
    """Yield the beginning of every line of a file."""
    with path.open("rb") as file:
        whole = True
        while raw := file.readline(LINE):
            if whole:
                yield raw.decode("utf-8", "replace").rstrip("\r\n")
            whole = raw.endswith(b"\n")


def read_metadata(path: Path) -> list[Submitted]:
    """Read who submitted what.

    Raises:
        OSError: the file cannot be read.
    """
    found: list[Submitted] = []
    section = ""
    for line in lines(path):
        if not (key := KEY.match(line)):
            continue
        depth, item, name, value = len(key[1]), bool(key[2]), key[3], key[4] or ""
        if depth == 0 and not item:
            found.append(Submitted(name))
            section = ""
            continue
        if not found:
            continue
        if depth == 2 and not item:
            section = name
        if section == "created_at" and (name == "created_at" or (depth == 4 and name == "utc")):
            found[-1].submitted = moment(value) or found[-1].submitted
        elif section == "submitters" and (depth, item) in ((2, True), (4, True)):
            found[-1].submitters.append({name: scalar(value)})
        elif section == "submitters" and depth in (4, 6) and found[-1].submitters:
            found[-1].submitters[-1][name] = scalar(value)
    return found
