"""Mistakes that any function can have, recognized from one answer if no known mistake fits.

Each is named only if it is certain whatever else may be wrong, so no assignment has to list them.
What a worker reports about a call only helps to name the mistake in a wrong answer.
"""

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from tensormark.exercise import SECOND_CALL, SIZES_PROBE
from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall, changed_state
from tensormark.judging.raised import texts
from tensormark.references import under

Shape = tuple[int, ...]
LOW = 1e-4  # a relative error that computing with lower precision can cause


@dataclasses.dataclass(frozen=True)
class General:
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
DRAWING_CAUSES = {  # by worker/causes.py
    "new weights": General(
        "new_weights_in_call",
        "each call creates new weights: use the modules that __init__ created",
        DIFFERS,
    ),
    "dropout": General("dropout_in_eval", "dropout is active in eval mode too", DIFFERS),
}
MODE = General("mode_changed", "the model is switched between training and eval mode in the call")
WEIGHTS = General("weights_changed", "the call changes the model's weights")
SEED = General("seeded", "the call seeds the random numbers: leave that to its callers")
TYPE = General("other_type", "the type of the numbers changes along the way")
CHANGED = General("input_changed", "inputs are changed in place")
NO_GRADIENT = General(
    "no_gradient", "the output is right, but gradients stop: at .detach(), .data or no_grad()"
)
LOST = General("axis_lost", "an axis of length 1 is lost, perhaps by squeeze() or indexing")
SEVERAL_LOST = General("axis_lost", "axes of length 1 are lost, perhaps by squeeze() or indexing")
EXCHANGED = General(
    "axes_exchanged", "the axes of the output have the right lengths, but are in the wrong order"
)
MISSING = General(
    "axis_missing", "an axis of the output is missing, perhaps after indexing, a sum or a mean"
)
SEVERAL_MISSING = General(
    "axis_missing", "axes of the output are missing, perhaps after indexing, a sum or a mean"
)
MERGED = General("axes_merged", "axes of the output are merged into one")
PRECISION = General("less_precise", "in float64, the output is only as precise as float32")
SIZES = General("some_sizes", "right for some sizes, and wrong for others")
NOT_FINITE = General(None, "in training mode, the output has values that are NaN or inf")
RETURNED, CARRIED_OVER = "returns_something_else", "kept_from_a_call"
# id to what it means in any submission
WORDS = {
    RETURNED: "the function returns something other than it should",
    CARRIED_OVER: "something carries over from one call to the next",
    **{
        each.id: each.says
        for each in (
            *DRAWING_CAUSES.values(),
            *(MODE, WEIGHTS, SEED, TYPE, CHANGED, NO_GRADIENT),
            *(LOST, EXCHANGED, MISSING, MERGED, PRECISION, SIZES),
        )
        if each.id is not None
    },
}


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
    named = next((DRAWING_CAUSES[name] for name in DRAWING_CAUSES if name in causes), None)
    return named or (General(None, DIFFERS) if drew else None)


def _merged(got: Shape, expected: Shape) -> bool:
    """Return whether adjacent axes were merged into one, with the others as expected."""
    missing = len(expected) - len(got)
    merged = (
        (*expected[:first], math.prod(expected[first:end]), *expected[end:])
        for first, end in enumerate(range(missing + 1, len(expected) + 1))
    )
    return got in merged


def _shape(got: Shape, expected: Shape) -> General | None:
    if sorted(got) == sorted(expected):
        return EXCHANGED
    missing = len(expected) - len(got)
    if missing <= 0 or got == (1,):  # a tensor without axes is also sent as (1,)
        return None
    remaining = iter(expected)
    in_order = all(length in remaining for length in got)
    if in_order and math.prod(got) == math.prod(expected):
        return LOST if missing == 1 else SEVERAL_LOST
    if in_order:
        return MISSING if missing == 1 else SEVERAL_MISSING
    return MERGED if _merged(got, expected) else None


def _precision_or_sizes(answered: AnsweredCall, mismatch: Mismatch) -> General:
    """Name what is wrong with other sizes and types if the usual ones are right."""
    pair = mismatch.pair
    if mismatch.kind == "values" and pair is not None and answered.call.dtype == "float64":
        error = np.abs(pair.got.astype(np.float64) - pair.expected).max()
        if error <= LOW * max(1.0, float(np.abs(pair.expected).max())):
            return PRECISION
    return SIZES


def _state(answered: AnsweredCall, mismatch: Mismatch) -> General | None:
    changed = changed_state(answered.reply) or []
    is_finding = mismatch.kind == "changed"
    random = answered.call.train or bool(answered.reply.message.get("drew"))
    if "the model's training mode" in changed and (is_finding or random):
        return MODE
    if "the model's weights" in changed:
        return WEIGHTS
    return SEED if "the random seed" in changed and is_finding else None


def _by_kind(answered: AnsweredCall, mismatch: Mismatch) -> General | None:
    if mismatch.kind == "dtype":
        return TYPE
    if mismatch.kind == "shape":
        got = under(answered.reply.tensors, "out/").get(mismatch.name)
        expected = answered.recording.outputs.get(mismatch.name)
        return None if got is None or expected is None else _shape(got.shape, expected.shape)
    if mismatch.kind == "changed" and mismatch.name in answered.recording.inputs:
        return CHANGED
    return NO_GRADIENT if mismatch.kind == "gradient" and mismatch.pair is None else None


def general(
    answered: AnsweredCall, mismatch: Mismatch, independent: Iterable[AnsweredCall]
) -> General | None:
    """Name what is wrong with an answer, or return None.

    Args:
        independent: all answers that do not depend on other wrong functions.
    """
    if mismatch.kind == "raised":
        wrong_return = answered.reply.text.startswith(f"{answered.call.target} should return ")
        return General(RETURNED, mismatch.lines[0]) if wrong_return else None
    if mistake := _state(answered, mismatch) or _by_kind(answered, mismatch):
        return mistake
    if mismatch.kind == "values" and (mistake := _randomness(independent)):
        return mistake
    if mismatch.kind in ("values", "shape", "finite") and answered.probe.name == SECOND_CALL:
        return General(CARRIED_OVER, answered.probe.says)
    if mismatch.kind == "values" and answered.probe.name == SIZES_PROBE:
        return _precision_or_sizes(answered, mismatch)
    # the headline of a dropout check would claim a cause
    return NOT_FINITE if mismatch.kind == "finite" and answered.call.train else None
