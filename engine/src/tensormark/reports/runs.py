"""The last runs, kept in a folder on the machine that graded them, and the changes between them.

Each run is a result model in its own file, named after its time. Nothing is sent anywhere.
"""

import contextlib
import datetime
import json
from pathlib import Path

from tensormark.files import write_whole
from tensormark.reports.model import Model, read_model
from tensormark.reports.text import visible
from tensormark.result import Outcome
from tensormark.usage import UserError

FOLDER = ".grade"  # where runs are kept
MAX_RUNS = 30
MAX_POINTS = 1e6  # of an exercise: a file with a larger number is not a run


def _compared_fields(exercise: Model) -> Model:
    return {"outcome": str(exercise["outcome"]), "score": exercise["score"]}


def run_files(folder: Path) -> list[Path]:
    """Return the files of the runs, the oldest first."""
    return sorted(folder.glob("run-*.json"))


def _is_whole(run: Model) -> bool:
    """Return whether a run has all the compared fields in a valid form."""
    try:
        datetime.datetime.fromisoformat(run["time"]["started"])
        return all(
            isinstance(exercise["id"], str)
            and exercise["outcome"] in list(Outcome)
            and (exercise["score"] is None or 0 <= exercise["score"] <= MAX_POINTS)
            for exercise in run["exercises"]
        )
    except (KeyError, TypeError, ValueError):
        return False


def _last_run(folder: Path, result: Model) -> Model | None:
    """Return the last kept run of the same submission, skipping invalid files."""
    skipped: list[str] = []
    last = None
    for path in reversed(run_files(folder)):
        try:
            run = read_model(path, follow=False)
        except (OSError, UserError):
            run = {}
        if not _is_whole(run):
            skipped.append(visible(path.name))
        elif all(run.get(name) == result[name] for name in ("submission", "assignment")):
            last = run
            break
    if skipped:
        more = f" and {len(skipped) - 1} more" if skipped[1:] else ""
        where = visible(str(folder))
        print(f"  {where}: skipped {skipped[0]}{more}, not readable as an earlier run")
    return last


def changes(before: Model | None, result: Model) -> Model | None:
    """Return the changes since a run: the exercises of both whose outcome or score differs."""
    if before is None:
        return None
    old = {exercise["id"]: _compared_fields(exercise) for exercise in before["exercises"]}
    since = str(before["time"]["started"])
    changed = [
        {"id": exercise["id"], "before": old[exercise["id"]], "after": _compared_fields(exercise)}
        for exercise in result["exercises"]
        if exercise["id"] in old and old[exercise["id"]] != _compared_fields(exercise)
    ]
    return {"since": since, "exercises": changed}


def save(folder: Path, result: Model) -> None:
    """Save a run, and delete the oldest beyond MAX_RUNS."""
    stamp = "".join(char for char in result["time"]["started"] if char.isalnum())
    number = 0
    while (folder / f"run-{stamp}-{number:03}.json").exists():
        number += 1
    write_whole(folder / f"run-{stamp}-{number:03}.json", json.dumps(result) + "\n")
    for old in run_files(folder)[:-MAX_RUNS]:
        with contextlib.suppress(OSError):  # it is a folder
            old.unlink()


def with_changes(folder: Path, result: Model) -> Model:
    """Return a result with what has changed since the last run, and keep it.

    Prints which runs cannot be read or kept.
    """
    changed = result | {"changes": changes(_last_run(folder, result), result)}
    try:
        save(folder, result)
    except OSError as error:
        print(f"  {visible(str(folder))}: cannot save this run ({error.strerror})")
    return changed
