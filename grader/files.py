"""The root of this repository, digests of files, and atomic writes."""

import hashlib
import os
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def digest(content: bytes) -> str:
    """Return the sha256 of some bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def sha256(path: Path) -> str:
    """Return the sha256 of a file, in hexadecimal."""
    return digest(path.read_bytes())


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file under a temporary name, then rename it: a reader never sees half of it.

    Args:
        content: bytes, or text to write as UTF-8.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = content.encode("utf-8") if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        os.chmod(name, 0o644)  # mkstemp makes files that only the owner can read
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
