"""The names that Canvas and Moodle give files in a bulk download, in every way they can be read.

Students choose part of such a name: the display name before the id, and the file's name after it.
Either may contain what looks like somebody's id, so a name has as many readings as it has places
where an id could be. Ids are ASCII digits, and are only ever compared as text.
"""

import re
from collections.abc import Iterator

from tensormark.classroom.students.upload import CANVAS, MOODLE, Upload, again

# `lovelaceada_12345_678_main.py`, or `lovelaceada_LATE_12345_678_main.py` if late; for a text or
# link typed into a form, `lovelaceada_12345_text.html`. Canvas reduces a display name to letters,
# combining marks, digits and underscores, in lower case.
CANVAS_ID = re.compile(
    r"_(?P<late>LATE_)?(?P<id>[0-9]+)_(?:[0-9]+_(?P<file>.+)|(?:text|link)\.html)", re.S
)
# with anonymous grading, `anon_x7Kp2_678_main.py`; its id is random and has no underscore
ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<id>anon_[0-9A-Za-z]{1,32})_(?:(?:text|link)\.html|(?:[0-9]+_)?(?P<file>.+))",
    re.S,
)
# `Ada Lovelace_123_assignsubmission_file_`, a folder, or the beginning of a file's name. Moodle
# replaces underscores in names by spaces. A team is written with its name and number, and students
# without a team with a name alone.
MOODLE_ID = re.compile(
    r"(?:_(?P<id>[0-9]+))?_assignsubmission_(?:file|(?P<text>onlinetext))(?:_(?P<file>.*))?", re.S
)


def _is_canvas_name(name: str) -> bool:
    """Say whether Canvas may have written this for a display name.

    Unpacking the download may have changed any letter that is not ASCII.
    """
    return all(char.isalnum() or char == "_" or not char.isascii() for char in name)


def _readings(pattern: re.Pattern[str], name: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the text before each place where a pattern matches all the rest, and the match."""
    for position in (match.start() for match in re.finditer("_", name)):
        if match := pattern.fullmatch(name, position):
            yield name[:position], match


def _from_canvas(match: re.Match[str], name: str) -> Upload:
    file = match["file"] or ""
    return Upload(
        student=match["id"],
        name=name,
        file=file,
        again=again(file),
        late=bool(match["late"]),
        typed=not file,
        kind=CANVAS,
    )


def canvas_readings(name: str) -> list[Upload]:
    """Return every way to read a file name as Canvas's; the uploads have no path."""
    readings = _readings(CANVAS_ID, name)
    return [_from_canvas(match, display) for display, match in readings if _is_canvas_name(display)]


def anonymous_reading(name: str) -> Upload | None:
    """Read a file name as that of Canvas with anonymous grading."""
    match = ANONYMOUS.fullmatch(name)
    return _from_canvas(match, match["id"]) if match else None


def moodle_readings(name: str) -> list[Upload]:
    """Return every way to read a file name as Moodle's; the uploads have no path.

    The id is that of a participant or team within one assignment, and appears elsewhere only in
    Moodle's own worksheet.
    """
    return [
        Upload(
            student=f"{display}_{match['id']}" if match["id"] else display,
            name=display,
            id=match["id"] or "",
            file=match["file"] or "",
            again=again(match["file"] or ""),
            typed=bool(match["text"]),
            kind=MOODLE,
        )
        for display, match in _readings(MOODLE_ID, name)
        if display and (match["id"] or "_" not in display)
    ]
