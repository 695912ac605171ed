"""Show a page in the user's browser."""

import os
import sys
import webbrowser
from pathlib import Path


def _has_display() -> bool:
    names = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return sys.platform == "darwin" or any(os.environ.get(name) for name in names)


def show(path: Path) -> bool:
    """Open a page; return whether that was possible."""
    if not _has_display():
        return False
    try:
        return webbrowser.open(path.resolve().as_uri())
    except (webbrowser.Error, OSError):
        return False
