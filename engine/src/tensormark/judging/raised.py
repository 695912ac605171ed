"""Describe what a student's code raised, and choose which of several mismatches to show.

A reply is untrusted: its content only affects the wording of a message.
"""

from collections.abc import Collection, Mapping, Sequence

from tensormark.exercise import SIZES_PROBE
from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.result import CheckFailed, Finding
from tensormark.sandbox.interface import Reply

FORBIDDEN = "forbidden"  # the id of the mistake
NO_TEXT = "failed without saying why"
MAX_TEXTS = 32  # how many texts of a list are read


def not_allowed(what: str, section: str) -> CheckFailed:
    """Return the failure that costs an exercise with forbidden code all its points.

    Args:
        section: the handout's section that says what is forbidden; may be empty.
    """
    read = (f'read: handout.md, "{section}"',) if section else ()
    return CheckFailed(Finding(what, read, FORBIDDEN))


def texts(reply: Reply, key: str) -> list[str]:
    """Return the texts of a list in a reply."""
    value = reply.message.get(key)
    items = value[:MAX_TEXTS] if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


def hole(reply: Reply, targets: Mapping[str, str]) -> str | None:
    """Return the exercise that a reply says is not written, or None.

    Any other NotImplementedError, such as torch's own, is an ordinary exception.

    Args:
        targets: the functions that students write, to the ids of their exercises.
    """
    if reply.status != "not written":
        return None
    if reply.text in targets.values():
        return reply.text
    function = reply.message.get("function")
    return targets.get(function) if isinstance(function, str) and not reply.text else None


def _raised_text(reply: Reply) -> str:
    """Describe in one line what a student's code raised."""
    if reply.status != "not written":
        return reply.text or NO_TEXT
    where = reply.message.get("where")
    place = where if isinstance(where, str) else ""
    return f"raised NotImplementedError: {reply.text}".rstrip(": ") + place


def _unusual(answered: AnsweredCall) -> str:
    """Say in what a call differs from the usual ones and may therefore raise; may be empty."""
    is_double = answered.call.dtype == "float64"
    if answered.probe.name == SIZES_PROBE:
        double, types = (", and is in float64", " or a type") if is_double else ("", "")
        what = f"a size{types} that is written into the code, and for `squeeze()`"
        return f"this call has other sizes{double}: look for {what}"
    return "this call is in float64" if is_double else ""


def mismatch_of(answered: AnsweredCall, targets: Mapping[str, str]) -> Mismatch:
    """Return the mismatch of an answer that is not ok."""
    reply = answered.reply
    if (name := hole(reply, targets)) is not None:
        return Mismatch("blocked", name, (f"Problem ({name}) is not written yet",))
    shapes = "; ".join(texts(reply, "shapes"))
    there = shapes and f"on that line, {shapes}"
    lines = [_raised_text(reply), *filter(None, [there, _unusual(answered), reply.advice])]
    headline = f"{reply.unimportable} cannot be imported" if reply.unimportable else ""
    return Mismatch("raised", answered.call.target, tuple(lines), headline)


def renamed(answered: AnsweredCall) -> Mismatch | None:
    """Return the mismatch of a wrong answer of an object that lacks a given module, or None."""
    target = answered.call.target
    lacking = texts(answered.reply, "lacking_modules")
    if not lacking:
        return None
    says = f"{target.split('.')[0]} has no module {lacking[0]}; its names are fixed"
    return Mismatch("raised", target, (says,))


def most_telling(
    judged: Sequence[tuple[AnsweredCall, Mismatch]], own: AnsweredCall, wrong: Collection[str]
) -> tuple[AnsweredCall, Mismatch, list[str]]:
    """Choose the mismatch to show: that of the answer that depends least on other exercises.

    An exception from the student's own functions comes first, as the student sees it too, unless it
    passed through a failed upstream function: then what the call with most stand-ins does counts.
    An exception raised only with stand-ins is shown only if the grader worded it: it then says how
    the function is called wrongly. If no exercise upstream has failed, wrong values are those of
    the student's own functions, which the student can print: those with stand-ins only help to
    recognize the mistake.

    Args:
        own: the answer of the student's own functions; if judged, it comes first.
        wrong: the upstream functions that have failed.

    Returns: the answer, its mismatch, and further lines.
    """
    (first, own_mismatch), (last, mismatch) = judged[0], judged[-1]
    if first is not own or last is own:
        return last, mismatch, []
    raised = mismatch.kind == "raised"
    worded = raised and last.reply.status == "error" and not last.reply.text.startswith("raised ")
    if own_mismatch.kind == "raised":
        if set(texts(first.reply, "through")).intersection(wrong):
            return last, mismatch, []
        more = [line for line in mismatch.lines if worded and line not in own_mismatch.lines]
        return first, own_mismatch, more
    if (raised and not worded) or not (raised or wrong):
        return first, own_mismatch, []
    return last, mismatch, []
