"""What a run was told of the class, for the appeals after it: they write the same gradebook."""

import argparse
import datetime
import json
import os
from pathlib import Path

from tensormark.classroom.store import Store
from tensormark.classroom.written import sheet_paths
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import printable
from tensormark.usage import option

SETTING = "options"
FILES = ("roster", "canvas", "adjustments", "rule", "last")
SHEETS = ("written", "answers")  # may be several files, with commas between
OPTIONS = (*FILES, *SHEETS, "deadline", "late", "column", "viva")


def _text(name: str, value: object) -> str:
    """Return an option as text; a file counts wherever the next command is given."""
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if name in SHEETS:
        return ",".join(map(os.path.abspath, sheet_paths(str(value))))
    return os.path.abspath(str(value)) if name in FILES else str(value)


def own_files(options: argparse.Namespace) -> list[Path]:
    """Return the instructor's files, which nobody has handed in."""
    files = [path for name in FILES if (path := getattr(options, name))]
    texts = (getattr(options, name) or "" for name in SHEETS)
    return [*files, *(path for text in texts for path in sheet_paths(text))]


def remember(options: argparse.Namespace, store: Store) -> None:
    """Keep what the gradebook that is about to be written is made of."""
    given = {name: _text(name, value) for name in OPTIONS if (value := getattr(options, name))}
    folder = os.path.realpath(options.submissions)
    store.choose(SETTING, json.dumps(given | {"submissions": folder}))


def remembered(store: Store) -> dict[str, str]:
    """Return what was kept, by option; nothing before there is a gradebook."""
    return dict(json.loads(store.setting(SETTING) or "{}"))


def settle(options: argparse.Namespace, store: Store) -> list[str]:
    """Give an appeal the options of the gradebook that it will change; return lines that say so.

    Raises:
        SubmissionError: the gradebook is that of other submissions, or an option lacks another.
    """
    lines = []
    before = remembered(store)
    folder = before.pop("submissions", None)
    if options.only is None and folder == os.path.realpath(options.submissions):
        gone = [name for name in OPTIONS if name in before and not getattr(options, name)]
        lines += [
            f"the previous run had {option(name, printable(before[name]))}, and this one has none"
            for name in gone
        ]
    if options.only is not None:
        if folder not in (None, os.path.realpath(options.submissions)):
            raise SubmissionError(
                f"{option('only', options.only)}: the gradebook in {options.out} is of {folder}; "
                f"give that as {option('submissions')}, or another {option('out')}"
            )
        taken = {name: text for name, text in before.items() if not getattr(options, name)}
        for name, text in taken.items():
            setattr(options, name, _value(name, text))
        options_taken = ", ".join(option(name, text) for name, text in taken.items())
        lines += [f"as in the previous run: {printable(options_taken)}"] if taken else []
    if options.column and not options.canvas:
        given, lacking = option("column", options.column), option("canvas")
        raise SubmissionError(f"{given}: names a column of a Canvas export; give {lacking} as well")
    if options.answers and not options.viva:
        given, lacking = option("answers", options.answers), option("viva")
        raise SubmissionError(
            f"{given}: are to questions on students' own code; give {lacking} too"
        )
    return lines


def _value(name: str, text: str) -> object:
    if name == "deadline":
        return datetime.datetime.fromisoformat(text)
    if name == "viva":
        return int(text)
    return Path(text) if name in FILES else text
