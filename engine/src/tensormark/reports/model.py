"""The result model that reports use: a dict from `Grade.as_json`, or read from a file.

result.schema.json describes it. Reports depend on nothing else.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensormark import usage
from tensormark.files import NotAFileError, read_regular
from tensormark.result import UNIMPORTABLE, UNWRITTEN, VERSION, Outcome
from tensormark.usage import UserError

Model = dict[str, Any]
MAX_BYTES = 8 << 20  # bytes of a result file; usual ones have 100 kB
MAX_LINES = 40  # of a message
STARTER = "starter"  # the default submission
PACKED_SUFFIXES = (".zip", ".tar", ".gz", ".tgz")  # of packed submissions
OWN_TIER = "process"  # the tier in which people grade their own code


def read_model(path: Path) -> Model:
    """Read a result that a grading has written.

    Raises:
        UserError: the file is not a result. OSError: it cannot be read.
    """
    try:
        content, _ = read_regular(path, MAX_BYTES + 1, follow=True)
    except NotAFileError as error:
        raise UserError(f"{path}: {error}") from error
    if len(content) > MAX_BYTES:
        raise UserError(f"{path} is too large for a result")
    try:
        result = json.loads(content)  # which PowerShell may have saved as UTF-16
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is not JSON") from error
    if not isinstance(result, dict) or result.get("version") != VERSION:
        raise UserError(f"{path} is not a result of version {VERSION}")
    return result


def shown_exercises(result: Model) -> list[Model]:
    """Return the exercises that reports list: extensions that were not started only on request."""
    return [
        exercise
        for exercise in result["exercises"]
        if result["only"] is not None
        or not exercise["bonus"]
        or exercise["outcome"] != Outcome.NOT_WRITTEN
    ]


def ungraded(result: Mapping[str, Any]) -> list[str]:
    """Return the ids of the exercises that could not be graded."""
    return [exercise["id"] for exercise in result["exercises"] if exercise["score"] is None]


def headline(exercise: Model) -> str:
    """Return the short text beside an exercise's verdict."""
    findings = exercise["findings"]
    return str(findings[0]["headline"] if findings else exercise["note"])


def message_lines(exercise: Model) -> list[str]:
    """Return an exercise's whole message, line by line."""
    message = str(exercise["message"])
    return message.split("\n")[:MAX_LINES] if message else []


def _command(target: str, names: Sequence[str], result: Model) -> str:
    """Return the command that grades some exercises of the same submission again."""
    options = {"k": ",".join(names)} if names else {}
    if result["submission"] != STARTER:
        options["submission"] = shlex.quote(result["submission"])
    return usage.command(target, **options)


def next_step(result: Model) -> str | None:
    """Return what a student should do next; None if the grader should not say."""
    if result["private"] or result["tier"] != OWN_TIER or ungraded(result):
        return None
    unfinished = [each for each in shown_exercises(result) if each["outcome"] != Outcome.PASSED]
    if unfinished:
        # one of the core comes before extensions, and what failed before what is not written
        first = min(unfinished, key=lambda each: (each["bonus"], each["outcome"] != Outcome.FAILED))
        names = [] if UNIMPORTABLE.fullmatch(headline(first)) else [first["id"]]
        again = _command("grade" if first["task"] else "check", names, result)
        unwritten = first["outcome"] in UNWRITTEN
        return f"write {first['id']} in {first['file']}, then {again}" if unwritten else again
    if result["only"] is not None:
        return _command("check", [], result)
    if result["mode"] == "check":
        return _command("grade", [], result)
    packed = str(result["submission"]).endswith(PACKED_SUFFIXES)
    return None if packed else _command("submit", [], result)
