"""Folders written completely or not at all, and text between two markers in a file."""

import contextlib
import os
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


def between(text: str, mark: str) -> str:
    """Return the text between `<!-- mark:begin -->` and `<!-- mark:end -->`, else a line end."""
    _, begin, rest = text.partition(f"<!-- {mark}:begin -->")
    inside, end, _ = rest.partition(f"<!-- {mark}:end -->")
    return inside if begin and end else "\n"


def put_between(text: str, mark: str, inside: str) -> str:
    """Replace the text between the two markers.

    Raises:
        ValueError: the markers are missing.
    """
    begin = f"<!-- {mark}:begin -->"
    end = f"<!-- {mark}:end -->"
    head, opening, rest = text.partition(begin)
    _, closing, tail = rest.partition(end)
    if not opening or not closing:
        raise ValueError(f"no section between {begin} and {end}")
    return f"{head}{begin}{inside}{end}{tail}"
