"""Reads the last report of `make report`: which values of an output differ from the reference."""

import json
from pathlib import Path
from typing import NamedTuple

from sentences import InputError

FIRST = "run `make report` first"  # it keeps its runs in .grade/


class Difference(NamedTuple):
    """Where a function's output differs from the reference.

    Attributes:
        exercise: its id; headline: what the report says of it.
        excerpt: names of the axes, shape, worst value, and the map of the differences.
    """

    exercise: str
    headline: str
    excerpt: dict


def last_run(folder: Path) -> dict:
    """Read the newest run that is kept in a folder.

    Raises:
        InputError: there is none that can be read.
    """
    runs = sorted(folder.glob("run-*.json"))
    if not runs:
        raise InputError(f"{folder}: there is no report yet; {FIRST}")
    try:
        found = json.loads(runs[-1].read_text(encoding="utf-8"))
        if not all(one["id"] and isinstance(one["findings"], list) for one in found["exercises"]):
            raise ValueError
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{runs[-1]}: not a report; {FIRST}") from error
    return found


def difference(result: dict, name: str | None) -> Difference:
    """Return the difference that a report has of an exercise, or the first that it has of any.

    Raises:
        InputError: it has none; the message says why.
    """
    known = [one["id"] for one in result["exercises"]]
    if name is not None and name not in known:
        raise InputError(f"the last report has no exercise {name}, only {', '.join(known)}")
    asked = [one for one in result["exercises"] if name in (None, one["id"])]
    for one in asked:
        for finding in one["findings"]:
            if finding["excerpt"] and finding["excerpt"]["map"]["panels"]:
                return Difference(one["id"], finding["headline"], finding["excerpt"])
    what = f"says of {name}: {asked[0]['outcome']}" if name else "found no wrong values"
    raise InputError(
        f"nothing to draw: the last report {what}; after a change, `make report` again"
    )
