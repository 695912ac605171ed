"""What is checked in each answer.

If a check raises an exception, the answer is at fault if the same check judges the right answer
without one and then raises on this answer again: the check, the references and the machine work, so
the cause is in the answer. The answer then fails that check and no other. The grader is at fault if
the right answer raises too: then no answer can be judged, which costs no points. If a bug of ours
cannot handle a wrong answer, that counts as the answer's fault: it is not the right answer, so the
check could not have passed, and the trouble is noted for the maintainers.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from tensormark.exercise import NUMPY
from tensormark.judging.compare import Mismatch, compare, compare_plain
from tensormark.judging.evidence import Evidence
from tensormark.judging.fingerprints import (
    AnsweredCall,
    changed_inputs,
    changed_state,
    tolerance_of,
)
from tensormark.references import under
from tensormark.sandbox.interface import Reply
from tensormark.usage import trouble_in
from tensormark.worker.protocol import GPU
from tensormark.worker.values import unit_of

Check = Callable[[Evidence, AnsweredCall], Mismatch | None]


def wrong_output(evidence: Evidence, answered: AnsweredCall) -> Mismatch | None:
    """Compare outputs with the reference's; if they are random, let the probe examine them."""
    call = answered.call
    got = answered.outputs
    examine = answered.examine
    tolerance = None if examine else tolerance_of(evidence.entry, "out/", call)
    for name, expected in answered.recording.outputs.items():
        if name not in got:
            return Mismatch("names", name, (f"{name} is missing",))
        if call.raises:
            says = f"{call.target} should raise {call.raises}"
            mismatch = None if got[name].all() else Mismatch("values", name, (says,))
        elif call.is_plain and tolerance is not None:
            mismatch = compare_plain(name, got[name], expected, tolerance)
        else:
            dtype = "" if call.arrays == NUMPY else call.dtype
            if tolerance is not None and call.arrays == NUMPY:
                tolerance = dataclasses.replace(tolerance, unit=unit_of(expected))
            mismatch = compare(name, got[name], expected, tolerance, dtype, evidence.axes)
        if mismatch is not None:
            return mismatch
    if examine is None:
        return None
    with np.errstate(all="ignore"):  # a wrong output may be arbitrarily large
        wrong = examine(got, answered.recording.inputs)
    return Mismatch("draw", "output", (), wrong) if wrong else None


def wrong_gradient(evidence: Evidence, answered: AnsweredCall) -> Mismatch | None:
    """Compare gradients with the reference's; none may be missing."""
    got = under(answered.reply.tensors, "grad/")
    call = answered.call
    raised = answered.reply.message.get("backward")
    if raised is not None and answered.recording.gradients:
        if changed_inputs(answered):
            return None  # that is why, and it costs the same points
        line = f"raised RuntimeError: {raised}".removesuffix(": ")
        headline = "the output is right, but its gradients cannot be computed"
        return Mismatch("gradient", call.target, (line,), headline)
    for name, expected in answered.recording.gradients.items():
        called = name.removeprefix("weights/")
        if name not in got:
            return Mismatch("gradient", called, (f"no gradient reaches {called}",))
        words = f"the gradient of {called}"
        axes = evidence.axes if called == name else {}  # a weight's are not those of an output
        tolerance = tolerance_of(evidence.entry, name, call)
        mismatch = compare(words, got[name], expected, tolerance, call.dtype, axes)
        if mismatch is not None:
            headline = "the output is right, but its gradients are wrong"
            return dataclasses.replace(mismatch, kind="gradient", headline=headline)
    return None


def changed_input(evidence: Evidence, answered: AnsweredCall) -> Mismatch | None:
    """Check that the call did not change its inputs."""
    inputs = *answered.recording.inputs, *answered.call.args
    for name in changed_inputs(answered):
        if name in inputs:
            return Mismatch("changed", name, (f"the call changes {name} in place",))
    return None


def changed_globals(evidence: Evidence, answered: AnsweredCall) -> Mismatch | None:
    """Check that the call did not change torch's global state or the model's mode."""
    if "changed" not in answered.reply.message:  # it was kept from being reported
        return Mismatch("changed", "state", ("the worker did not report its state",))
    changed = changed_state(answered.reply)
    if not changed:
        return None
    lines = (f"the call changes {', '.join(name[:40] for name in changed[:10])}",)
    headline = "the call changes something other than its output"
    return Mismatch("changed", changed[0], lines, headline)


def changed_by_import(evidence: Evidence, answered: AnsweredCall) -> Mismatch | None:
    """Check that importing the exercise's file changed nothing."""
    file = evidence.exercise.file
    changed = answered.reply.message.get("imported")
    # only the first exercise of a file is charged
    if not changed or any(result.file == file for result in evidence.results.values()):
        return None
    if GPU in changed:
        return Mismatch("changed", file, (), f"importing {file} uses a GPU, and there is none here")
    lines = (f"importing {file} changes {', '.join(changed)}",)
    return Mismatch("changed", file, lines, f"importing {file} changes a global setting")


# the first costs the probe's part of the points, each other one the properties
CHECKS: tuple[Check, ...] = (
    wrong_output,
    changed_input,
    wrong_gradient,
    changed_globals,
    changed_by_import,
)


def _right_answer(answered: AnsweredCall) -> AnsweredCall:
    """Return the call with the solution's recorded answer."""
    tensors = {
        name: value.astype(answered.call.dtype) if value.dtype.kind == "f" else value
        for name, value in answered.recording.answers.items()
    }
    message = {"status": "ok", "changed": []}
    return dataclasses.replace(answered, reply=Reply("ok", "", message, tensors))


def examined(evidence: Evidence, answered: AnsweredCall, check: Check) -> Mismatch | None:
    """Return what a check finds wrong with an answer, or None; an answer that breaks it fails.

    Raises:
        Exception: the grader is at fault.
    """
    try:
        return check(evidence, answered)
    except Exception:
        check(evidence, _right_answer(answered))
    try:
        return check(evidence, answered)
    except Exception as error:
        trouble = trouble_in(error)
        evidence.troubles.append(trouble)
        says = f"its answer could not be compared: {trouble.split(' ')[0]}"
        return Mismatch("unreadable", answered.call.target, (says,))
