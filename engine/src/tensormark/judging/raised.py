"""What a reply says that a student's code raised; and which of several mismatches to show.

A reply is untrusted: what it says is used for the words of a message only.
"""

from collections.abc import Collection, Mapping, Sequence

from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import Answered
from tensormark.result import CheckFailed, Finding
from tensormark.sandbox.interface import Reply

FORBIDDEN = "forbidden"  # the id of the mistake
NO_TEXT = "failed without saying why"
MOST = 20  # texts of a list that are looked at


def not_allowed(what: str, section: str) -> CheckFailed:
    """Return what costs all points of an exercise that uses forbidden code.

    Args:
        section: of the handout that says what is forbidden; may be empty.
    """
    read = (f'read: handout.md, "{section}"',) if section else ()
    return CheckFailed(Finding(what, read, FORBIDDEN))


def texts(reply: Reply, key: str) -> list[str]:
    """Return the texts of a list in a reply."""
    value = reply.message.get(key)
    items = value[:MOST] if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


def hole(reply: Reply, targets: Mapping[str, str]) -> str | None:
    """Return the exercise that a reply says is not written, if it says so.

    Any other NotImplementedError, such as torch's own, is an exception like others.

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
    """Say what a student's code raised, in one line."""
    if reply.status != "not written":
        return reply.text or NO_TEXT
    where = reply.message.get("where")
    place = where if isinstance(where, str) else ""
    return f"raised NotImplementedError: {reply.text}".rstrip(": ") + place


def mismatch_of(answered: Answered, targets: Mapping[str, str]) -> Mismatch:
    """Return what is wrong with an answer that is not ok."""
    reply = answered.reply
    if (name := hole(reply, targets)) is not None:
        return Mismatch("blocked", name, (f"Problem ({name}) is not written yet",))
    there = "; ".join(texts(reply, "shapes"))
    lines = [_raised_text(reply), *filter(None, [there and f"there, {there}", reply.advice])]
    headline = f"{reply.unimportable} cannot be imported" if reply.unimportable else ""
    return Mismatch("raised", answered.call.target, tuple(lines), headline)


def most_telling(
    judged: Sequence[tuple[Answered, Mismatch]], own: Answered, wrong: Collection[str]
) -> tuple[Answered, Mismatch, list[str]]:
    """Choose the mismatch to show: of the answer that depends least on other exercises.

    What a student's own functions raised comes first, as it is what the student sees too; but not
    what a wrong function upstream raised. What only a call with stand-ins raised is shown only if
    it is in the grader's words: they say how the function is called wrongly.

    Args:
        own: the answer of the student's own functions; if it is judged, it is the first.
        wrong: the functions upstream that have failed.

    Returns: the answer, its mismatch, and further lines.
    """
    (first, own_mismatch), (last, mismatch) = judged[0], judged[-1]
    if first is not own or last is own:
        return last, mismatch, []
    raised = mismatch.kind == "raised"
    worded = raised and last.reply.status == "error" and not last.reply.text.startswith("raised ")
    if own_mismatch.kind == "raised" and not set(texts(first.reply, "through")).intersection(wrong):
        more = [line for line in mismatch.lines if worded and line not in own_mismatch.lines]
        return first, own_mismatch, more
    if raised and not worded:
        return first, own_mismatch, []
    return last, mismatch, []
