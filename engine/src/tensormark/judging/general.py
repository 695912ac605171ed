"""Mistakes that any function can have, recognized from one answer if no known mistake fits.

Each is named only if it is certain whatever else may be wrong, so no assignment has to list them.
What a worker reports about a call only helps to name the mistake in a wrong answer.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tensormark.exercise import SECOND_CALL, SIZES_PROBE
from tensormark.judging.compare import Mismatch, Pair
from tensormark.judging.fingerprints import AnsweredCall, changed_state
from tensormark.judging.replies import texts

Shape = tuple[int, ...]
LOW = 1e-4  # a relative error that computing with lower precision can cause


class General(NamedTuple):
    """A mistake.

    Attributes:
        id: None if the mistake is too uncertain to have a name.
        says: the headline.
        more: a further line, or an empty string.
    """

    id: str | None
    says: str
    more: str = ""


DIFFERS = "the same call gives different results: it draws random numbers in eval mode"
DRAWING_CAUSES = {  # by worker/calls.py
    "new weights": General(
        "new_weights_in_call",
        "each call creates new weights: use the modules that __init__ created",
        DIFFERS,
    ),
    "dropout": General("dropout_in_eval", "dropout is active in eval mode too", DIFFERS),
}
DRAWING = General(None, DIFFERS)
MODE = General("mode_changed", "the model is switched between training and eval mode in the call")
WEIGHTS = General("weights_changed", "the call changes the model's weights")
SEED = General("seeded", "the call seeds the random numbers: leave that to its callers")
TYPE = General("other_type", "the type of the numbers changes along the way")
CHANGED = General("input_changed", "inputs are changed in place")
NO_GRADIENT = General(
    "no_gradient", "the output is right, but gradients stop: at .detach(), .data or no_grad()"
)
EXCHANGED = General(
    "axes_exchanged", "the axes of the output have the right lengths, but are in the wrong order"
)
MERGED = General("axes_merged", "axes of the output are merged into one")
PRECISION = General("less_precise", "in float64, the output is only as precise as float32")
SIZES = General("some_sizes", "right for some sizes, and wrong for others")
NOT_FINITE = General(None, "in training mode, the output has values that are NaN or inf")


def _randomness(answered: Iterable[AnsweredCall]) -> General | None:
    """Name what drew random numbers in eval mode, other than from a generator argument."""
    drew = [
        each.reply
        for each in answered
        if each.reply.message.get("drew")
        and not each.reply.message.get("same")
        and not each.call.train
        and not any(name.startswith("*") for name in each.call.args)
    ]
    causes = {cause for reply in drew for cause in texts(reply, "causes")}
    for cause, mistake in DRAWING_CAUSES.items():
        if cause in causes:
            return mistake
    return DRAWING if drew else None


def of_shape(got: Shape, expected: Shape) -> General | None:
    """Say what happened to the axes of an output, or return None."""
    if sorted(got) == sorted(expected):
        return EXCHANGED
    missing = len(expected) - len(got)
    if missing <= 0 or got == (1,):  # a tensor without axes is also sent as (1,)
        return None
    one = missing == 1
    remaining = iter(expected)
    if all(length in remaining for length in got):
        if math.prod(got) == math.prod(expected):
            axes = "an axis of length 1 is" if one else "axes of length 1 are"
            return General("axis_lost", f"{axes} lost, perhaps by squeeze() or indexing")
        axes = "an axis of the output is" if one else "axes of the output are"
        return General("axis_missing", f"{axes} missing, perhaps after indexing, a sum or a mean")
    for first in range(len(got)):
        end = first + missing + 1
        if got == (*expected[:first], math.prod(expected[first:end]), *expected[end:]):
            return MERGED
    return None


def _state(answered: AnsweredCall, mismatch: Mismatch) -> General | None:
    changed = changed_state(answered.reply) or []
    is_finding = mismatch.kind == "changed"
    random = answered.call.train or answered.reply.message.get("drew")
    if "the model's training mode" in changed and (is_finding or random):
        return MODE
    if "the model's weights" in changed:
        return WEIGHTS
    return SEED if "the random seed" in changed and is_finding else None


def _lost_axes(answered: AnsweredCall, name: str) -> General | None:
    """Say what happened to the axes of an output of this name, if there is one."""
    got = answered.reply.tensors.get(f"out/{name}")
    expected = answered.recording.outputs.get(name)
    return None if got is None or expected is None else of_shape(got.shape, expected.shape)


def _precision_or_sizes(answered: AnsweredCall, pair: Pair) -> General:
    """Name what is wrong with other sizes and types if the usual ones are right."""
    if answered.call.dtype == "float64":
        error = np.abs(pair.got.astype(np.float64) - pair.expected).max()
        if error <= LOW * max(1.0, float(np.abs(pair.expected).max())):
            return PRECISION
    return SIZES


def _by_kind(
    answered: AnsweredCall, mismatch: Mismatch, independent: Iterable[AnsweredCall]
) -> General | None:
    match mismatch.kind:
        case "dtype":
            return TYPE
        case "changed" if mismatch.name in answered.recording.inputs:
            return CHANGED
        case "gradient" if mismatch.pair is None:
            return NO_GRADIENT
        case "shape":
            return _lost_axes(answered, mismatch.name)
        case "values":
            return _randomness(independent)
    return None


def general(
    answered: AnsweredCall, mismatch: Mismatch, independent: Iterable[AnsweredCall]
) -> General | None:
    """Name what is wrong with an answer, or return None.

    Args:
        independent: all answers that do not depend on other wrong functions.
    """
    kind = mismatch.kind
    probe = answered.probe
    if kind == "raised":
        wrong_return = answered.reply.text.startswith(f"{answered.call.target} should return ")
        return General("returns_something_else", mismatch.lines[0]) if wrong_return else None
    mistake = _state(answered, mismatch) or _by_kind(answered, mismatch, independent)
    if mistake is not None:
        return mistake
    if kind in ("values", "shape", "finite") and probe.name == SECOND_CALL:
        return General("kept_from_a_call", probe.says)
    if kind == "values" and probe.name == SIZES_PROBE and mismatch.pair is not None:
        return _precision_or_sizes(answered, mismatch.pair)
    # the headline of a dropout check would claim a cause
    return NOT_FINITE if kind == "finite" and answered.call.train else None
