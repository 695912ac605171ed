"""Remove text that a submission produced from what students see.

A submission sees the inputs of its calls. If these are not public, an exception's text could carry
them to a student, who would read it in the report. Only the grader's own words remain: the type of
an exception, if it is one of Python's or torch's, and a line number of the student's own file.

Covered: text in replies, however it was produced, and names of changed state. Not covered: numbers,
such as a reported wrong value; a type and a line number can also leak a few bits.
"""

import builtins
import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from tensormark.sandbox.interface import Reply
from tensormark.worker import watched

PLACE = r" \((\w{1,80})\.py, line (\d{1,6})\)"
PLACE_AT_END = re.compile(rf"{PLACE}$")
RAISED = re.compile(rf"raised (\w{{1,80}}): .*?(?:{PLACE})?", re.DOTALL)
TORCH_EXCEPTIONS = {"OutOfMemoryError", "_LinAlgError"}
TYPES = TORCH_EXCEPTIONS | {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
TEXT_KEYS = {
    "missing",
    "importing",
    "through",
    "shapes",
    "lacking_modules",
}  # keys of the submission's own text
NOT_SHOWN = "its text is not shown"
RETURNED = "did not return what it should have"
FAILED = "failed for a reason that is not shown here"


def _place(module: str | None, line: str | None, sources: Mapping[str, str]) -> str:
    """Return a place in a submission, or an empty string if there is no such line."""
    if module is None or line is None or module not in sources:
        return ""
    if not 0 < int(line) <= sources[module].count("\n") + 1:
        return ""
    return f" ({module}.py, line {int(line)})"


def _error_without_text(text: str, sources: Mapping[str, str]) -> str:
    """Say what went wrong in a call, without any text from the submission."""
    if (exception := RAISED.fullmatch(text)) is not None:
        kind = exception[1] if exception[1] in TYPES else "an exception of another type"
        return f"raised {kind}{_place(exception[2], exception[3], sources)}"
    at = PLACE_AT_END.search(text)
    summary = RETURNED if " should return " in text else FAILED
    return summary + (_place(at[1], at[2], sources) if at else "")


def _state_without_text(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the states before and after a call, with unknown names replaced."""
    before, after = message.get("before"), message.get("after")
    if not isinstance(before, dict) or not isinstance(after, dict):
        return {}
    names = {
        name: name if name in watched.ALL else f"state {number}"
        for number, name in enumerate(before, start=1)
    }
    return {
        "before": {shown: before[name] for name, shown in names.items()},
        "after": {shown: after[name] for name, shown in names.items() if name in after},
    }


def without_text(reply: Reply, targets: Mapping[str, str], sources: Mapping[str, str]) -> Reply:
    """Return a reply without text from the submission; `unabridged` keeps it for comparison.

    Args:
        targets: the functions that students write, which an exception may have passed through, to
            the exercises' ids, which NotImplementedError may name.
        sources: the submission's modules by name.
    """
    message = {key: value for key, value in reply.message.items() if key not in TEXT_KEYS}
    message |= _state_without_text(reply.message)
    if isinstance(through := reply.message.get("through"), list):
        message["through"] = [name for name in through if name in targets]
    if isinstance(imported := message.get("imported"), list):
        message["imported"] = [name for name in imported if name in watched.ALL]
    text = reply.text
    if reply.status == "error":
        text = _error_without_text(text, sources)
    elif reply.status == "not written":
        place = re.fullmatch(PLACE, str(message.pop("where", "")))
        message["where"] = _place(place[1], place[2], sources) if place else ""
        text = text if not text or text in targets.values() else NOT_SHOWN
    return dataclasses.replace(reply, text=text, message=message, unabridged=reply.text)
