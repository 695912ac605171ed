"""Text in reports: bounded, with characters that could act on a terminal or page escaped."""

import io
import sys
from typing import Any

from tensormark.characters import is_visible, with_piled_up

LONGEST = 1000  # characters of a text, unless a report has room for more


def escape_unencodable_output() -> None:
    """Let printing escape what a terminal cannot encode, rather than fail on a student's text."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _escaped(char: str) -> str:
    r"""Return a character as its code, such as `\x1b` or `\u202e`."""
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: Any, limit: int = LONGEST, keep: str = "") -> str:
    """Return an untrusted text in which every character that is not plainly visible is escaped.

    Escaped are direction marks, terminal escapes, zero-width characters, line ends and lone
    surrogates, and all but the first few combining marks on a letter, which would overlap others.

    Args:
        limit: how many characters to keep.
        keep: characters not to escape, such as the newline.
    """
    whole = str(text)
    parts = []
    for char, piled_up in with_piled_up(whole[:limit]):
        plain = char in keep or (is_visible(char) and not piled_up)
        parts.append(char if plain else _escaped(char))
    return "".join(parts) + (" ..." if len(whole) > limit else "")


def points(value: float) -> str:
    """Format points without trailing zeros."""
    return f"{value:g}"


def out_of(score: float | None, most: float) -> str:
    """Format points and their maximum."""
    reached = "-" if score is None else points(score)
    return f"{reached} / {points(most)}"
