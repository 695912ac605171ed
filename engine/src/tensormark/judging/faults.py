"""Decide who is at fault when judging an answer raises an exception.

The answer is at fault if the same check judges the right answer without an exception and then
raises on this answer again: the check, the references and the machine work, so the cause is in the
answer. The answer then fails that check and no other. The grader is at fault if the right answer
raises too: then no answer can be judged, which costs no points. If a bug of ours cannot handle a
wrong answer, that counts as the answer's fault: it is not the right answer, so the check could not
have passed, and the trouble is noted for the maintainers. Code that only describes a failed answer
decides nothing: if it raises, there is no description.
"""

import dataclasses
from collections.abc import Callable
from typing import TypeVar

from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.sandbox.interface import Reply
from tensormark.trouble import trouble_in

Description = TypeVar("Description")
Note = Callable[[str], None]  # takes a message for the maintainers


def _right_answer(answered: AnsweredCall) -> AnsweredCall:
    """Return the call with the solution's recorded answer."""
    dtype = answered.call.dtype
    tensors = {
        name: value.astype(dtype) if value.dtype.kind == "f" else value
        for name, value in answered.expected.items()
    }
    message = {"status": "ok", "before": {}, "after": {}}
    return dataclasses.replace(answered, reply=Reply("ok", "", message, tensors))


def examine_answer(
    examine: Callable[[AnsweredCall], Mismatch | None], answered: AnsweredCall, note: Note
) -> Mismatch | None:
    """Return what a check finds wrong with an answer, or None; an answer that breaks it fails.

    Raises:
        Exception: the grader is at fault.
    """
    try:
        return examine(answered)
    except Exception:
        examine(_right_answer(answered))
    try:
        return examine(answered)
    except Exception as error:
        trouble = trouble_in(error)
        note(trouble)
        kind = trouble.split(" ")[0]
        says = f"its answer could not be compared: {kind}"
        return Mismatch("unreadable", answered.call.target, (says,))


def attempt(describe: Callable[[], Description], default: Description, note: Note) -> Description:
    """Return a description of a failed answer, or `default` if describing it raises."""
    try:
        return describe()
    except Exception as error:
        note(trouble_in(error))
        return default
