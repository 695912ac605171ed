"""What something among the hand-ins is itself: links are never followed."""

import stat
from pathlib import Path


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
