"""Whose fault it is that judging an answer raises an exception.

The answer's, if the same check judges the right answer without one, and then fails on this answer a
second time: the check and the references work, and so does the machine, so that what stops them is
in the answer. It then fails that check, and no other. The grader's, if the right answer raises,
too: then nobody's answer can be judged, and that costs no points. A wrong answer that a bug of ours
cannot digest falls on the first side; it is not the right answer, so the check could not have
passed, and the trouble is noted for the maintainers. What only describes an answer that has failed
decides nothing: where that raises, there is no description.
"""

import dataclasses
from collections.abc import Callable
from typing import TypeVar

from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import Answered
from tensormark.sandbox.interface import Reply
from tensormark.trouble import trouble_in

Found = TypeVar("Found")
Note = Callable[[str], None]  # takes what the maintainers should know


def _right_answer(answered: Answered) -> Answered:
    """Return the call with the answer that the solution gave when it was recorded."""
    dtype = answered.call.dtype
    tensors = {
        name: value.astype(dtype) if value.dtype.kind == "f" else value
        for name, value in answered.expected.items()
    }
    message = {"status": "ok", "before": {}, "after": {}}
    return dataclasses.replace(answered, reply=Reply("ok", "", message, tensors))


def examined(
    examine: Callable[[Answered], Mismatch | None], answered: Answered, note: Note
) -> Mismatch | None:
    """Return what a check finds wrong with an answer, or None; an answer that breaks it is wrong.

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


def described(describe: Callable[[], Found], otherwise: Found, note: Note) -> Found:
    """Return a description of an answer that has failed, or `otherwise`."""
    try:
        return describe()
    except Exception as error:
        note(trouble_in(error))
        return otherwise
