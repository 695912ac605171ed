"""What is compared of a class's sources: made in another process, and kept until the next run."""

import json
import marshal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark.files import digest, sha256, write_whole

DESCRIBER = Path(__file__).with_name("statements.py")
# seconds for the process, and for each source besides: far above its limits of processor time
AT_LEAST, EACH = 60.0, 4.0
Description = Mapping[str, Any]  # see statements.py; {} if the source could not be read


def describe(
    given: Sequence[str], sources: Sequence[str]
) -> tuple[list[Description], list[Description]]:
    """Return the descriptions of given sources, and of students', as far as there was time."""
    request = marshal.dumps({"given": list(given), "sources": list(sources)})
    command = [sys.executable, "-I", "-S", "-B", str(DESCRIBER)]
    seconds = AT_LEAST + EACH * len(sources)
    try:
        out = subprocess.run(
            command, input=request, capture_output=True, timeout=seconds, check=False
        ).stdout
    except subprocess.TimeoutExpired as error:
        out = error.stdout or b""
    rows = [json.loads(line) for line in out.split(b"\n")[:-1]]
    return rows[: len(given)], rows[len(given) :]


def read_kept(path: Path | None, version: str) -> dict[str, Description]:
    """Return the descriptions kept from an earlier run, by digest of the source."""
    if path is None:
        return {}
    try:
        kept = json.loads(path.read_bytes())
        return dict(kept["described"]) if kept["version"] == version else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def descriptions(
    given: Sequence[str], sources: Sequence[str], kept: Path | None
) -> tuple[list[Description], list[Description]]:
    """Return the descriptions of given sources, and of others.

    Args:
        kept: a file to keep them in until the next run.
    """
    version = digest("\0".join([sha256(DESCRIBER), *given]).encode(errors="replace"))
    known = read_kept(kept, version)
    keys = [digest(text.encode(errors="replace")) for text in sources]
    starts = [f"given {number}" for number in range(len(given))]
    new = {key: text for key, text in zip(keys, sources, strict=True) if key not in known}
    if new or not known.keys() >= set(starts):
        first, made = describe(given, list(new.values()))
        known |= dict(zip(starts, first, strict=False)) | dict(zip(new, made, strict=False))
        used = {key: known[key] for key in (*starts, *keys) if key in known}
        if kept is not None:
            text = json.dumps({"version": version, "described": used}, separators=(",", ":"))
            write_whole(kept, text)
    return [known.get(key, {}) for key in starts], [known.get(key, {}) for key in keys]
