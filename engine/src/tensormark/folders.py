"""Folders written completely or not at all, and text between two markers in a file."""

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder to fill; at the end, rename it to `path`, or remove it on failure.

    Raises:
        FileExistsError: `path` exists, and is not an empty folder.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{path}: already exists; remove it, or name another folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        yield unfinished
        os.chmod(unfinished, 0o755)  # mkdtemp makes folders that nobody else can read
        os.replace(unfinished, path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _between(text: str, mark: str) -> re.Match[str] | None:
    """Find the text between `<!-- mark:begin -->` and `<!-- mark:end -->`."""
    mark = re.escape(mark)
    return re.search(rf"(?<=<!-- {mark}:begin -->).*?(?=<!-- {mark}:end -->)", text, re.DOTALL)


def between(text: str, mark: str) -> str:
    """Return the text between the two markers, or a line end if they are missing."""
    found = _between(text, mark)
    return found[0] if found else "\n"


def put_between(text: str, mark: str, inside: str) -> str:
    """Replace the text between the two markers.

    Raises:
        ValueError: the markers are missing.
    """
    found = _between(text, mark)
    if found is None:
        raise ValueError(f"no section between <!-- {mark}:begin --> and <!-- {mark}:end -->")
    return text[: found.start()] + inside + text[found.end() :]
