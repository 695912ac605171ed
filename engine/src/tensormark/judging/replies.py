"""What students read if a call has no answer, by the worker's reply.

A reply is untrusted: its content affects nothing but the wording of a message.

A submission sees the inputs of its calls. If these are not public, an exception's text could carry
them to a student, who would read it in the report. `without_text` leaves only the grader's own
words: the type of an exception or of a result, if it is Python's, torch's or numpy's, a line number
of the student's own file, and names of modules, classes and functions that the assignment has.

Covered: text in replies, however it was produced, and names of changed state. Not covered: numbers,
such as a reported wrong value; a type and a line number can also leak a few bits.
"""

import builtins
import dataclasses
import re
from collections.abc import Collection, Mapping

from tensormark.exercise import Assignment
from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.sandbox.interface import Reply
from tensormark.sandbox.packages import requirement_names
from tensormark.usage import enumerated
from tensormark.worker.protocol import STATE

NOT_RETURNED = "did not return what it should have"  # instead of what it returned
# texts of a worker: the place " (main.py, line 7)", and what may come before it
PLACE = r" \((?P<module>\w{1,80})\.py, line (?P<line>\d{1,6})\)"
PLACE_AT_END = re.compile(rf"{PLACE}$")
RAISED = re.compile(rf"raised (?P<type>\w{{1,80}})(?:: .*?)?(?:{PLACE})?", re.DOTALL)
RETURNED = re.compile(
    r"(?:output \w{1,80} of )?(?P<target>\S{1,80}) should return "
    r"(?P<wanted>a tensor|a numpy array).*, got (?P<got>None|a tuple|a (?P<type>\w{1,40}))\b.*"
)
LACKS = re.compile(
    r"(?P<owner>\w{1,80})(?:\.py)? has no (?P<kind>\w{1,20}) (?P<name>\w{1,80})"
    r"; its names are fixed.*"
)
# names that no submission has chosen: Python's, and those of torch and numpy
TYPES = {name for name, value in vars(builtins).items() if isinstance(value, type)}
TYPES |= {"OutOfMemoryError", "_LinAlgError", "LinAlgError", "Tensor", "ndarray", "generator"}
TEXT_KEYS = ("importing", "shapes", "lacking_parts")  # of texts that the submission has chosen


def hole(reply: Reply, targets: Mapping[str, str]) -> str | None:
    """Return the exercise that a reply says is not written, or None.

    Any other NotImplementedError, such as torch's own, is an ordinary exception.

    Args:
        targets: the functions that students write, to the ids of their exercises.
    """
    if reply.status != "not written":
        return None
    if not reply.text:
        return targets.get(reply.message.get("function", ""))
    return reply.text if reply.text in targets.values() else None


# --- without the submission's text ---


def _place(match: re.Match[str] | None, sources: Mapping[str, str]) -> str:
    """Return the place in a match, or an empty string if there is no such line."""
    if match is None or match["module"] not in sources:
        return ""
    module = match["module"]
    line = int(match["line"])
    is_there = 0 < line <= sources[module].count("\n") + 1
    return f" ({module}.py, line {line})" if is_there else ""


def _error_without_text(text: str, targets: Collection[str], sources: Mapping[str, str]) -> str:
    """Say what went wrong in a call, without any text from the submission."""
    raised = RAISED.fullmatch(text)
    if raised:
        kind = raised["type"] if raised["type"] in TYPES else "an exception of another type"
        return f"raised {kind}{_place(raised, sources)}"
    at = _place(PLACE_AT_END.search(text), sources)
    returned = RETURNED.fullmatch(text)
    if returned and returned["target"] in targets and returned["type"] in {None, *TYPES}:
        return f"{returned['target']} should return {returned['wanted']}, got {returned['got']}{at}"
    if " should return " in text:
        return f"{NOT_RETURNED}{at}"
    lacks = LACKS.fullmatch(text)
    if lacks and lacks["kind"] in ("class", "function", "method"):
        names = set(sources)
        for target in targets:
            names.update(target.split("."))
        if lacks["owner"] in names and lacks["name"] in names:
            return text.partition(";")[0]
    return f"failed for a reason that is not shown here{at}"


def without_text(reply: Reply, targets: Mapping[str, str], sources: Mapping[str, str]) -> Reply:
    """Return a reply without text from the submission.

    Args:
        targets: the functions that students write, to the ids of their exercises, which
            NotImplementedError may name.
        sources: the texts of the submission's modules, by name.
    """
    message = {key: value for key, value in reply.message.items() if key not in TEXT_KEYS}
    if "backward" in message:  # the key alone says that the backward pass failed
        message["backward"] = ""
    if reply.message.get("importing") in sources:
        message["importing"] = reply.message["importing"]
    for key in ("changed", "imported"):
        if key in message:
            names = message[key]
            message[key] = [name if name in STATE else "a state without a name" for name in names]
    text = reply.text
    if reply.status == "error":
        text = _error_without_text(text, targets, sources)
    elif reply.status == "not written":
        message["where"] = _place(re.fullmatch(PLACE, message.get("where", "")), sources)
        if text and text not in targets.values():
            text = "its text is not shown"
    return dataclasses.replace(reply, text=text, message=message)


# --- in words ---


def _unimportable(reply: Reply, assignment: Assignment) -> str:
    """Return the file that a reply says cannot be imported, or an empty string."""
    module = reply.message.get("importing", "")
    if reply.text.startswith(f"importing {assignment.main_file} "):
        return assignment.main_file
    return f"{module}.py" if module.isidentifier() else ""


def _about_missing(name: str, others: Collection[str], assignment: Assignment, file: str) -> str:
    """Say what to do about a module that cannot be found.

    Args:
        others: the names of modules that were handed in alongside the graded files.
        file: the one that needs the module.
    """
    top = name.partition(".")[0]
    if top in others:
        graded = enumerated(list(assignment.editable))
        verb = "is" if len(assignment.editable) == 1 else "are"
        return f"only {graded} {verb} graded: copy what you need from {top} into {file}"
    if top == assignment.starter.name:
        return f"leave out `{top}.`: the given files are imported by their own names"
    if name in requirement_names(assignment.requirements):  # not one of its modules
        return f"{top} may be imported, but is not installed: `pip install {top}`"
    required = assignment.packages or requirement_names(assignment.requirements)
    packages = enumerated(["the standard library", *required])
    return f"only {packages} can be imported; put code from your other files into {file}"


def _advice(reply: Reply, others: Collection[str], assignment: Assignment) -> str:
    """Say what to do about a missing module, or a changed given file; may be empty."""
    place = PLACE_AT_END.search(reply.text)
    own = f"{place['module']}.py" if place else _unimportable(reply, assignment)
    if own not in assignment.editable:
        own = assignment.main_file
    missing = reply.message.get("missing", "")
    if missing.replace(".", "").isidentifier():
        return _about_missing(missing, others, assignment, own)
    file = reply.message.get("lacking")
    if file is None or file in assignment.editable:
        return ""
    starter = assignment.starter
    if file in {path.relative_to(starter).as_posix() for path in starter.rglob("*.py")}:
        return f"you are graded with the original {file}: put your additions into {own}"
    return ""


def mismatch_of(
    answered: AnsweredCall, assignment: Assignment, others: Collection[str] = ()
) -> Mismatch:
    """Return the mismatch of an answer that is not ok.

    Args:
        others: the names of modules that were handed in alongside the graded files.
    """
    reply = answered.reply
    name = hole(reply, assignment.targets)
    if name is not None:
        return Mismatch("blocked", name, (f"Problem ({name}) is not written yet",))
    shapes = "; ".join(reply.message.get("shapes", ()))
    place = PLACE_AT_END.search(reply.text)
    there = f"on line {int(place['line'])}, {shapes}" if place and shapes else shapes
    advice = _advice(reply, others, assignment)
    file = _unimportable(reply, assignment)
    wanted = answered.call.raises
    instead = f"{answered.call.target} should raise {wanted}" if wanted and not file else ""
    lines = filter(None, [reply.fault, instead, there, advice])
    headline = f"{file} cannot be imported" if file else ""
    return Mismatch("raised", answered.call.target, tuple(lines), headline, advised=advice != "")


def renamed(answered: AnsweredCall) -> Mismatch | None:
    """Return the mismatch of a wrong answer if the object lacks a given part, or None."""
    target = answered.call.target
    lacking = answered.reply.message.get("lacking_parts")
    if not lacking:
        return None
    says = f"{target.split('.')[0]} {lacking[0]}; its names are fixed"
    return Mismatch("raised", target, (says,))
