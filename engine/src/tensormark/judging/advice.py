"""Advice on exceptions caused by a missing module, or by a given file graded in its original form.

The worker's report is untrusted, and affects nothing but the wording of a message.
"""

import dataclasses
from collections.abc import Collection

from tensormark.exercise import Assignment
from tensormark.judging.student_text import PLACE_AT_END
from tensormark.sandbox.interface import Reply
from tensormark.sandbox.packages import requirement_names


def _enumerated(names: list[str]) -> str:
    """Join names with commas and an `and`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _about_missing(name: str, others: Collection[str], assignment: Assignment, file: str) -> str:
    """Say what to do about a module that cannot be found.

    Args:
        others: the names of modules that were handed in alongside the graded files.
        file: the one that needs the module.
    """
    top = name.partition(".")[0]
    if top in others:
        graded = _enumerated(list(assignment.editable))
        verb = "is" if len(assignment.editable) == 1 else "are"
        return f"only {graded} {verb} graded: copy what you need from {top} into {file}"
    if top == assignment.starter.name:
        return f"leave out `{top}.`: the given files are imported by their own names"
    required = assignment.packages or requirement_names(assignment.requirements)
    packages = _enumerated(["the standard library", *required])
    return f"only {packages} can be imported; put code from your other files into {file}"


def _editable_file(reply: Reply, assignment: Assignment) -> str:
    """Return the editable file on whose line a reply was raised, or else the main file."""
    place = PLACE_AT_END.search(reply.text)
    file = f"{place[1]}.py" if place else _unimportable(reply, assignment)
    return file if file in assignment.editable else assignment.main_file


def _advice(reply: Reply, others: Collection[str], assignment: Assignment) -> str:
    """Return a line of advice about an exception, or an empty string."""
    missing, file = reply.message.get("missing"), reply.message.get("lacking")
    own = _editable_file(reply, assignment)
    if isinstance(missing, str) and missing.replace(".", "").isidentifier():
        return _about_missing(missing, others, assignment, own)
    given = sorted(path.name for path in assignment.starter.glob("*.py"))
    if isinstance(file, str) and file in given and file not in assignment.editable:
        return f"you are graded with the original {file}: put your additions into {own}"
    return ""


def _unimportable(reply: Reply, assignment: Assignment) -> str:
    """Return the file that a reply says cannot be imported, or an empty string."""
    module = reply.message.get("importing")
    if reply.status == "lost" and reply.text.startswith(f"importing {assignment.main_file} "):
        return assignment.main_file
    return f"{module}.py" if isinstance(module, str) and module.isidentifier() else ""


def with_advice(reply: Reply, others: Collection[str], assignment: Assignment) -> Reply:
    """Add to a reply what the trusted side knows about its exception."""
    if reply.status == "ok":
        return reply
    return dataclasses.replace(
        reply,
        advice=_advice(reply, others, assignment),
        unimportable=_unimportable(reply, assignment),
    )
