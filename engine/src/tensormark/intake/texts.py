"""Check and decode the bytes of sources; the messages that both sides of the door share."""

from tensormark.files import digest

MAX_SOURCE = 256 << 10  # bytes; the solution takes 8 kB
MAX_OTHERS = 200  # names of other modules
MISSING = "there is no such file or folder"
TOO_MUCH = "too large or too complex to be read; hand in a zip of the files that you wrote"
DIFFERS = "differs from the given file, which grading uses instead"


def is_given(content: bytes, expected: str | None) -> bool:
    """Say whether this is the given content; lines may have Windows line endings."""
    return digest(content.replace(b"\r\n", b"\n")) == expected


def decoded(name: str, content: bytes) -> tuple[str, str | None]:
    """Decode a source; return its text and why it cannot be read, if it cannot."""
    start = content[:1000]
    # in UTF-16, one of the two bytes of each of Python's letters is zero
    has_mark = start.startswith((b"\xff\xfe", b"\xfe\xff"))
    if has_mark or len(start) < 4 * start.count(0) < 3 * len(start):
        return "", f"{name} is UTF-16 text; save the file as UTF-8"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return "", f"{name}:{line}: not UTF-8 text; save the file as UTF-8"
    if "\0" in text:
        cause = "as an interrupted save or synchronization leaves them"
        return "", f"{name} contains zero bytes, {cause}; save the file again"
    if not text.strip():
        return "", f"{name} is empty"
    return text, None
