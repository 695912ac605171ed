"""The last run of each submission, kept on the machine that graded it, and what changed since then.

It is a result model in a file of its own. Nothing is sent anywhere.
"""

import datetime
import json
from pathlib import Path

from tensormark.files import digest, encoded, write_whole
from tensormark.reports.model import Model, read_model
from tensormark.reports.text import visible
from tensormark.result import Outcome
from tensormark.usage import UserError

FOLDER = ".grade"  # where runs are kept
MAX_POINTS = 1e6  # of an exercise: a file with a larger number is not a run


def run_file(folder: Path, result: Model) -> Path:
    """Return where the last run of a submission is kept."""
    name = f"{result['assignment']}\n{result['submission']}"
    return folder / f"run-{digest(encoded(name))[:16]}.json"


def _compared_fields(exercise: Model) -> Model:
    return {"outcome": str(exercise["outcome"]), "score": exercise["score"]}


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


def _last_run(path: Path) -> Model | None:
    """Return the run at a path, or None; print that it is invalid if there is something else."""
    run: Model = {}
    try:
        run = read_model(path, follow=False)
    except FileNotFoundError:
        return None
    except (OSError, UserError):
        pass
    if _is_whole(run):
        return run
    print(f"  {visible(str(path))}: not readable as an earlier run")
    return None


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


def with_changes(folder: Path, result: Model) -> Model:
    """Return a result with what has changed since the last run, and keep it in that one's place.

    Prints if a run cannot be read or kept.
    """
    path = run_file(folder, result)
    changed = result | {"changes": changes(_last_run(path), result)}
    try:
        write_whole(path, json.dumps(result) + "\n")
    except OSError as error:
        print(f"  {visible(str(folder))}: cannot save this run ({error.strerror})")
    return changed
