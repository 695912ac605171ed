"""Explain to a student why a source is not valid Python: the line, the column, the usual cause.

Only short, printable pieces of the source are shown.
"""

import re
import sys

from tensormark.letters import is_visible

WIDTH = 72  # characters of a line that are shown
MARKER = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
NOTEBOOK = re.compile(r"\s*[!%?]+\s*\w")
QUOTES = frozenset(map(chr, range(0x2018, 0x2020)))
TWO = "this is Python 2; Python 3 writes print(...)"
MERGE = "a merge left its markers here: keep one version of the lines, and delete the markers"
COMMAND = "this is a notebook command, not Python: delete the line"
CURLY = "typographic quotes, as word processors write them: type \" or ' instead"
TYPOGRAPHIC = "not the character of the same look that Python knows: type it on your keyboard"
FENCE = "the mark of a block of code, as chats and web pages use it: delete the line"
PROMPT = "a prompt of an interactive Python is in front of the code: delete it"
INVISIBLE = "an invisible character, as text copied from a page can have: type the line again"
NEWER = re.compile(r"\s*(?:type \w+|(?:def|class) \w+\[)")  # since Python 3.12
TABS = "tabs and spaces are mixed: indent with spaces only"


def shown(name: str) -> str:
    """Make an untrusted name or text safe for a message: short, printable, on one line."""
    short = name if len(name) <= 80 else f"{name[:60]}...{name[-15:]}"
    return "".join(c if is_visible(c) else "?" for c in short)


def _line(text: str, number: int) -> str:
    """Return a line of a source, or ""; lines are counted as Python counts them."""
    lines = re.split(r"\r\n|\r|\n", text)
    return lines[number - 1] if 0 < number <= len(lines) else ""


def _excerpt(line: str, column: int) -> list[str]:
    """Return the printable part of a line around a column (from 1), and a caret below it."""
    if not line.strip():
        return []
    column = min(max(column, 1), len(line) + 1)
    start = max(0, column - WIDTH + 8)
    part = "".join(
        c if c.isprintable() else " " if c == "\t" else "?" for c in line[start:][:WIDTH]
    )
    indent = len(part) - len(part.lstrip()) if not start else 0
    before = "..." if start else ""
    caret = " " * (len(before) + column - 1 - start - indent) + "^"
    return [f"    {before}{part[indent:]}".rstrip(), f"    {caret}"]


def _cause(error: SyntaxError, line: str) -> str:
    message = error.msg or ""
    if NOTEBOOK.match(line):
        return COMMAND
    if line.lstrip().startswith("```"):
        return FENCE
    if line.lstrip().startswith(">>> "):
        return PROMPT
    if "invalid character" in message:
        return CURLY if QUOTES.intersection(line) else TYPOGRAPHIC
    if "non-printable character" in message:
        return INVISIBLE
    if isinstance(error, TabError) or (
        isinstance(error, IndentationError) and "\t" in line[: len(line) - len(line.lstrip())]
    ):
        return TABS
    if sys.version_info < (3, 12) and (NEWER.match(line) or message.startswith("f-string: ")):
        return "a newer Python may allow this; Python 3.11 and older do not"
    return TWO if "call to 'print'" in message else ""


def explained(name: str, error: SyntaxError, text: str) -> str:
    """Return why a source cannot be parsed, in up to four lines."""
    line_number, column = error.lineno or 0, error.offset or 0
    message = shown(error.msg or "not Python")
    hint = _cause(error, _line(text, line_number))
    if (marker := MARKER.search(text)) is not None:
        line_number, column = text.count("\n", 0, marker.start()) + 1, 1
        message, hint = "invalid syntax", MERGE
    place = f"{name}:{line_number}" if line_number else name
    lines = [f"{place}: {message}", *_excerpt(_line(text, line_number), column), hint]
    return "\n".join(line for line in lines if line)
