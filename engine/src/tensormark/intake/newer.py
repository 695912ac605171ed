"""Find syntax that the oldest supported Python lacks, in a source that this Python accepts.

Python's parser can be asked to refuse what came later. That leaves out f-strings, to which 3.12
gave a grammar of their own: until then, an f-string was first read as a plain string.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator

from tensormark.characters import shown

OLDEST = (3, 11)  # as in pyproject.toml
SINCE_3_12 = "such an f-string is only supported in Python 3.12 and greater"
OTHER = f"your instructor's may be {OLDEST[0]}.{OLDEST[1]}"


def _in_fields(text: str) -> Iterator[tuple[tokenize.TokenInfo, list[str]]]:
    """Yield each token in a replacement field of an f-string, and the quotes around it."""
    quotes: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_END":
            quotes.pop()
        elif len(quotes) > (kind == "FSTRING_MIDDLE"):  # the text between an f-string's own fields
            yield token, quotes
        if kind == "FSTRING_START":
            quotes.append(token.string.lstrip("fFrR"))


def _new_f_string(text: str) -> int:
    """Return the first line of an f-string with what older Pythons refuse in it, or 0."""
    for token, quotes in _in_fields(text):
        newline = token.type == tokenize.NL and any(len(quote) == 1 for quote in quotes)
        if (
            newline
            or token.type == tokenize.COMMENT
            or any(part in token.string for part in ("\\", *quotes))
        ):
            return token.start[0]
    return 0


def newer_syntax(name: str, text: str) -> str:
    """Return where a source has syntax that the oldest Python lacks, in a sentence, or ""."""
    if sys.version_info[:2] <= OLDEST:
        return ""
    try:
        ast.parse(text, feature_version=OLDEST)
    except SyntaxError as error:
        return f"{name}:{error.lineno}: {shown(error.msg)}; {OTHER}"
    line = _new_f_string(text)
    return f"{name}:{line}: {SINCE_3_12}; {OTHER}" if line else ""
