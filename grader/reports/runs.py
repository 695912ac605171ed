"""The last runs, kept in a folder of the machine that graded them, and what has changed since.

Each run is the result model in a file of its own, named after its time. Nothing is sent anywhere.
"""

import contextlib
import json
from pathlib import Path

from grader.files import write_whole
from grader.reports.model import Model, ModelError, read_model

FOLDER, KEPT = ".grade", 30  # where runs are kept, and how many


def standing(exercise: Model) -> Model:
    """Return what of an exercise is compared between runs."""
    return {"outcome": str(exercise["outcome"]), "score": exercise["score"]}


def kept_in(folder: Path) -> list[Path]:
    """Return the files of the runs, the oldest first."""
    return sorted(folder.glob("run-*.json"))


def last_run(folder: Path, result: Model) -> Model | None:
    """Return the last kept run of the same submission; damaged files are passed over."""
    for path in reversed(kept_in(folder)):
        with contextlib.suppress(OSError, ModelError, KeyError, TypeError):
            found = read_model(path)
            if all(found[name] == result[name] for name in ("submission", "assignment")):
                return found
    return None


def changes(before: Model | None, result: Model) -> Model | None:
    """Return what has changed since a run: the exercises of both whose outcome or score differs."""
    if before is None:
        return None
    try:
        old = {one["id"]: standing(one) for one in before["exercises"]}
        since = str(before["time"]["started"])
    except (KeyError, TypeError):
        return None
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
        old.unlink(missing_ok=True)


def with_changes(folder: Path, result: Model) -> Model:
    """Return a result with what has changed since the last run, and keep it."""
    made = result | {"changes": changes(last_run(folder, result), result)}
    keep(folder, result)
    return made
