"""Regular files, opened so that nothing that students can put in their place is waited for."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


class NotRegularError(OSError):
    """What was to be read is a link, a folder, a pipe or a device."""


def is_folder(path: Path) -> bool:
    """Say whether something is a folder itself, and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def is_regular(path: Path) -> bool:
    """Say whether something is a file itself, and not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


@contextlib.contextmanager
def opened(path: Path, follow: bool = False) -> Iterator[BinaryIO]:
    """Open a regular file.

    Args:
        follow: whether it may be a link; never for what lies among the hand-ins.

    Raises:
        NotRegularError: it is none. OSError: it cannot be opened.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegularError(f"{path} is not a file")
        file = os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise
    with file:
        yield file
