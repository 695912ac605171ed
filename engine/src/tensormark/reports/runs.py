"""The last runs, kept in a folder of the machine that graded them, and what has changed since.

Each run is the result model in a file of its own, named after its time. Nothing is sent anywhere.
"""

import contextlib
import datetime
import json
from collections.abc import Callable
from pathlib import Path

from tensormark.files import write_whole
from tensormark.reports.model import Model, ModelError, read_model
from tensormark.reports.text import visible
from tensormark.result import Outcome

Say = Callable[[str], object]
FOLDER, KEPT = ".grade", 30  # where runs are kept, and how many
MOST_POINTS = 1e6  # of an exercise: a number that is larger is not one of a run


def standing(exercise: Model) -> Model:
    """Return what of an exercise is compared between runs."""
    return {"outcome": str(exercise["outcome"]), "score": exercise["score"]}


def kept_in(folder: Path) -> list[Path]:
    """Return the files of the runs, the oldest first."""
    return sorted(folder.glob("run-*.json"))


def is_whole(found: Model) -> bool:
    """Say whether a run has what it is compared by, in the form that it was kept in."""
    try:
        datetime.datetime.fromisoformat(found["time"]["started"])
        return all(
            isinstance(one["id"], str)
            and one["outcome"] in list(Outcome)
            and (one["score"] is None or 0 <= one["score"] <= MOST_POINTS)
            for one in found["exercises"]
        )
    except (KeyError, TypeError, ValueError):
        return False


def last_run(folder: Path, result: Model, say: Say = print) -> Model | None:
    """Return the last kept run of the same submission; one that is none is passed over."""
    passed: list[str] = []
    last = None
    for path in reversed(kept_in(folder)):
        try:
            found = read_model(path, follow=False)
        except (OSError, ModelError):
            found = {}
        if not is_whole(found):
            passed.append(visible(path.name))
        elif all(found.get(name) == result[name] for name in ("submission", "assignment")):
            last = found
            break
    if passed:
        more = f" (with {len(passed) - 1} more)" if passed[1:] else ""
        which = f"{visible(str(folder))}: {passed[0]}{more}"
        say(f"  {which} cannot be read as an earlier run, and was skipped")
    return last


def changes(before: Model | None, result: Model) -> Model | None:
    """Return what has changed since a run: the exercises of both whose outcome or score differs."""
    if before is None:
        return None
    old = {one["id"]: standing(one) for one in before["exercises"]}
    since = str(before["time"]["started"])
    found = [
        {"id": one["id"], "before": old[one["id"]], "after": standing(one)}
        for one in result["exercises"]
        if one["id"] in old and old[one["id"]] != standing(one)
    ]
    return {"since": since, "exercises": found}


def keep(folder: Path, result: Model) -> None:
    """Keep a run, and delete the oldest beyond KEPT."""
    stamp = "".join(char for char in result["time"]["started"] if char.isalnum())
    number = 0
    while (path := folder / f"run-{stamp}-{number:03}.json").exists():
        number += 1
    write_whole(path, json.dumps(result) + "\n")
    for old in kept_in(folder)[:-KEPT]:
        with contextlib.suppress(OSError):  # it is a folder
            old.unlink()


def with_changes(folder: Path, result: Model, say: Say = print) -> Model:
    """Return a result with what has changed since the last run, and keep it.

    Args:
        say: is told of runs that cannot be read or kept.
    """
    made = result | {"changes": changes(last_run(folder, result, say), result)}
    try:
        keep(folder, result)
    except OSError as error:
        say(f"  {visible(str(folder))}: this run cannot be kept ({error.strerror})")
    return made
