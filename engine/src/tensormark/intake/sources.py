"""Decode and parse sources without running them, and explain to students why one is not Python.

Only short, printable pieces of a source are shown. Untrusted sources are parsed in limited.py only,
and a source that exceeds the limits there is not graded.
"""

import __future__

import ast
import re
import sys
from typing import Any

from tensormark.characters import shown
from tensormark.files import digest
from tensormark.intake.leftovers import hints
from tensormark.intake.newer import newer_syntax

MAX_SOURCE = 256 << 10  # bytes; the solution takes 8 kB
MAX_TEXTS = 200  # of one kind: names of other modules, notes
MISSING = "there is no such file or folder"
TOO_MUCH = "too large or too complex to be read; hand in a zip of the files that you wrote"
TOO_COMPLEX = "too complex to be read"
EMPTY = "is empty"
DIFFERS = "differs from the given file, which grading uses instead"

WIDTH = 72  # characters of a line that are shown
MARKER = re.compile(r"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)
COMMAND_LINE = re.compile(r"\s*[!%?]+\s*\w")
QUOTES = frozenset(map(chr, range(0x2018, 0x2020)))
TWO = "this is Python 2; Python 3 writes print(...)"
MERGE = "a merge left conflict markers here: keep one version of the lines, and delete the markers"
COMMAND = "this is a notebook command, not Python: delete the line"
CURLY = "typographic quotes, as word processors write them: type \" or ' instead"
TYPOGRAPHIC = "a character that only looks like the one Python needs: type it on your keyboard"
FENCE = "the mark of a code block, from a chat or web page: delete the line"
PROMPT = "the line begins with a Python prompt: delete the prompt"
INVISIBLE = "an invisible character, perhaps copied from a page: retype the line"
NEWER = "a newer Python may allow this; Python 3.11 and older do not"
SYNTAX_OF_3_12 = re.compile(r"\s*(?:type \w+|(?:def|class) \w+\[)")
TABS = "tabs and spaces are mixed: indent with spaces only"
NOTEBOOK = "a notebook, not Python source; export it as a script"


def is_given(content: bytes, expected: str | None) -> bool:
    """Return whether this is the given content; lines may have Windows line endings."""
    return digest(content.replace(b"\r\n", b"\n")) == expected


def decoded(name: str, content: bytes) -> str:
    """Decode a source.

    Raises:
        ValueError: it cannot be read; the message is one sentence.
    """
    start = content[:1000]
    # in UTF-16, one of the two bytes of each of Python's letters is zero
    has_mark = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    if has_mark or len(start) < 4 * start.count(0) < 3 * len(start):
        raise ValueError(f"{name} is UTF-16 text; save the file as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{name}:{line}: not UTF-8 text; save the file as UTF-8") from error
    if "\0" in text:
        cause = "perhaps from an interrupted save or synchronization"
        raise ValueError(f"{name} contains zero bytes, {cause}; save the file again")
    if not text.strip():
        raise ValueError(f"{name} {EMPTY}")
    return text


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
    indent = line[: len(line) - len(line.lstrip())]
    if COMMAND_LINE.match(line):
        return COMMAND
    if line.lstrip().startswith("```"):
        return FENCE
    if line.lstrip().startswith(">>> "):
        return PROMPT
    if "invalid character" in message:
        return CURLY if QUOTES.intersection(line) else TYPOGRAPHIC
    if "non-printable character" in message:
        return INVISIBLE
    if isinstance(error, TabError) or (isinstance(error, IndentationError) and "\t" in indent):
        return TABS
    if sys.version_info < (3, 12) and (
        SYNTAX_OF_3_12.match(line) or message.startswith("f-string: ")
    ):
        return NEWER
    return TWO if "call to 'print'" in message else ""


def _explained(name: str, error: SyntaxError, text: str) -> str:
    """Return why a source cannot be parsed, in up to four lines."""
    number = error.lineno or 0
    column = error.offset or 0
    message = shown(error.msg or "not Python")
    hint = _cause(error, _line(text, number))
    marker = MARKER.search(text)
    if marker is not None:
        number = text.count("\n", 0, marker.start()) + 1
        column = 1
        message = "invalid syntax"
        hint = MERGE
    place = f"{name}:{number}" if number else name
    lines = [f"{place}: {message}", *_excerpt(_line(text, number), column), hint]
    return "\n".join(line for line in lines if line)


def inspect(module: str, text: str) -> dict[str, Any]:
    """Return why a source cannot be imported, `fault`, or its `hints`; see leftovers.py.

    `newer` says which syntax older Pythons lack.
    """
    name = f"{module}.py"
    fault = ""
    try:
        tree = ast.parse(text, name)
        compile(tree, name, "exec", __future__.annotations.compiler_flag, dont_inherit=True)
    except SyntaxError as error:
        fault = _explained(name, error, text)
    except (RecursionError, MemoryError):
        fault = f"{name}: {TOO_COMPLEX}"
    except (ValueError, OverflowError, SystemError) as error:
        fault = f"{name}: not Python source ({shown(str(error))})"
    else:
        if not (text.lstrip().startswith("{") and '"cells"' in text):
            return {"fault": "", "hints": hints(tree), "newer": newer_syntax(name, text)}
        fault = f"{name}: {NOTEBOOK}"
    return {"fault": fault, "hints": {}}
