"""The folder that a submission may stand in and write to. Runs in the worker and its fork server.

It is emptied before each import and after each job, so nothing in it reaches another one.

Covered: how much is in it, in an isolating tier, and the size of each file in every tier; whatever
is in it can be removed, however deep and whatever its modes, as links are not allowed. Not covered:
what is written between two looks at it.
"""

import contextlib
import os
import uuid
from collections.abc import Iterator

NAME = "work"  # of the folder, in that of the fork server
MAX_FILE = 16 << 20  # bytes of a file; RLIMIT_FSIZE
MAX_BYTES = 32 << 20  # of all files; a container has 64 MiB for them
MAX_ENTRIES = 1000
INTERVAL = 0.02  # seconds between looks


def _open_up(folder: str) -> None:
    """Let a folder be read and emptied, whatever its modes."""
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        os.chmod(folder, 0o700)


def _entries(folder: str) -> Iterator["os.DirEntry[str]"]:
    """Yield everything in a folder, and in those in it."""
    folders = [folder]
    while folders:
        with contextlib.suppress(FileNotFoundError), os.scandir(folders.pop()) as scan:
            for entry in scan:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    _open_up(entry.path)
                    folders.append(entry.path)


def is_full(folder: str) -> bool:
    """Return whether a folder holds more than a submission may write, or cannot be read."""
    total = 0
    try:
        for count, entry in enumerate(_entries(folder), 1):
            with contextlib.suppress(FileNotFoundError):
                total += 512 * entry.stat(follow_symlinks=False).st_blocks
            if count > MAX_ENTRIES or total > MAX_BYTES:
                return True
    except OSError:
        return True
    return False


def empty(folder: str) -> None:
    """Remove everything in a folder, without recursion: each folder in it is moved to its top."""
    folders = [folder]
    while folders:
        place = folders.pop()
        for entry in list(os.scandir(place)):
            if entry.is_dir(follow_symlinks=False):
                _open_up(entry.path)
                moved = os.path.join(folder, uuid.uuid4().hex)
                os.rename(entry.path, moved)
                folders.append(moved)
            else:
                os.unlink(entry.path)
        if place != folder:
            os.rmdir(place)
