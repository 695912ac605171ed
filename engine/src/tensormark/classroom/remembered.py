"""The options of a run, kept so that later appeals write the same gradebook."""

import argparse
import datetime
import json
import os
from pathlib import Path

from tensormark.classroom.jobs.store import Store
from tensormark.classroom.points.written import sheet_paths
from tensormark.intake.submission import SubmissionError
from tensormark.sandbox.interface import printable
from tensormark.usage import option

SETTING = "options"
FILES = ("roster", "canvas", "adjustments", "rule", "last")
SHEETS = ("written", "answers")  # may be several files, separated by commas
OPTIONS = (*FILES, *SHEETS, "deadline", "late", "column", "viva")
NEEDS = {  # the option without which another means nothing, and why
    "column": ("canvas", "names a column of a Canvas export"),
    "answers": ("viva", "needs the questions that it answers"),
    "rule": ("deadline", "needs a deadline"),
}


def _text(name: str, value: object) -> str:
    """Return an option as text; paths become absolute, as the next command may run elsewhere."""
    if isinstance(value, datetime.datetime):
        return value.isoformat()
    if name in SHEETS:
        return ",".join(map(os.path.abspath, sheet_paths(str(value))))
    return os.path.abspath(str(value)) if name in FILES else str(value)


def own_files(options: argparse.Namespace) -> list[Path]:
    """Return the instructor's own files, which are not hand-ins."""
    files = [path for name in FILES if (path := getattr(options, name))]
    texts = (getattr(options, name) or "" for name in SHEETS)
    return [*files, *(path for text in texts for path in sheet_paths(text))]


def remember(options: argparse.Namespace, store: Store) -> None:
    """Store the options of the gradebook that is about to be written."""
    values = {name: _text(name, value) for name in OPTIONS if (value := getattr(options, name))}
    folder = os.path.realpath(options.submissions)
    store.choose(SETTING, json.dumps(values | {"submissions": folder}))


def remembered(store: Store) -> dict[str, str]:
    """Return the stored options by name; none before there is a gradebook."""
    return dict(json.loads(store.setting(SETTING) or "{}"))


def settle(options: argparse.Namespace, store: Store) -> list[str]:
    """Give an appeal the options of the gradebook that it changes; return notes about them.

    Raises:
        SubmissionError: the gradebook is for other submissions, or an option needs another one.
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
                f"{option('only', options.only)}: the gradebook in {options.out} is for {folder}; "
                f"give that as {option('submissions')}, or name another {option('out')}"
            )
        inherited = {name: text for name, text in before.items() if not getattr(options, name)}
        for name, text in inherited.items():
            setattr(options, name, _value(name, text))
        previous = ", ".join(option(name, text) for name, text in inherited.items())
        lines += [f"as in the previous run: {printable(previous)}"] if inherited else []
    for name, (other, why) in NEEDS.items():
        if (value := getattr(options, name)) and not getattr(options, other):
            raise SubmissionError(f"{option(name, value)}: {why}; give {option(other)} as well")
    return lines


def _value(name: str, text: str) -> object:
    if name == "deadline":
        return datetime.datetime.fromisoformat(text)
    if name == "viva":
        return int(text)
    return Path(text) if name in FILES else text
