"""Mistakes that any function can have, recognized from one answer if no known mistake fits.

Each is named only if it is certain whatever else may be wrong, so no assignment has to list them.
What a worker reports about a call only helps to name the mistake in a wrong answer.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np

from tensormark.exercise import NO_DROPOUT, TORCH
from tensormark.judging.checks import wrong_output
from tensormark.judging.compare import Mismatch, Pair
from tensormark.judging.evidence import Evidence
from tensormark.judging.fingerprints import AnsweredCall, changed_state
from tensormark.judging.replies import NOT_RETURNED
from tensormark.worker import protocol

Shape = tuple[int, ...]
HALF_ERROR = 2e-2  # the largest that half precision causes, as a part of the largest value
HALF_BITS = 11  # of a float16's significand; a bfloat16's has fewer


class Mistake(NamedTuple):
    """A mistake, as students read of it.

    Attributes:
        id: None if the mistake is too uncertain to have a name.
        says: the headline.
        more: further lines.
        sections: those of the handout that explain it, in quotation marks.
    """

    id: str | None
    says: str
    more: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()


RETURNS_SOMETHING_ELSE = "returns_something_else"
KEPT = Mistake(
    "kept_from_a_call", "a call after another one gives a wrong output: something carries over"
)
DIFFERS = "the same call gives different results: it draws random numbers in eval mode"
DROPOUT = Mistake("dropout_in_eval", "dropout is active in eval mode too", (DIFFERS,))
NEW_WEIGHTS = Mistake(
    "new_weights_in_call",
    "each call creates new weights: use the modules that __init__ created",
    (DIFFERS,),
)
# by a part of a name that worker/calls.py reports; the first that was seen is told
DRAWING_CAUSES = {
    "dropout": DROPOUT,
    "dot_product": DROPOUT,
    "multi_head": DROPOUT,
    protocol.NEW_WEIGHTS: NEW_WEIGHTS,
}


def _drawing_mistake(evidence: Evidence) -> Mistake | None:
    """Name what drew random numbers in eval mode, and so that results differ."""
    causes = [
        each.reply.message["causes"]
        for each in evidence.answered
        # else a failed exercise may have drawn
        if evidence.failed.issubset(each.call.given) and "causes" in each.reply.message
    ]
    for cause, mistake in DRAWING_CAUSES.items():
        if any(cause in name for name in itertools.chain(*causes)):
            return mistake
    return Mistake(None, DIFFERS) if causes else None


def shape_mistake(got: Shape, expected: Shape) -> Mistake | None:
    """Say what happened to the axes of an output, or return None."""
    if sorted(got) == sorted(expected):
        says = "the axes of the output have the right lengths, but are in the wrong order"
        return Mistake("axes_exchanged", says)
    missing = len(expected) - len(got)
    if missing <= 0 or got == (1,):  # a tensor without axes is also sent as (1,)
        return None
    one = missing == 1
    remaining = iter(expected)
    if all(length in remaining for length in got):  # `in` goes on where it found the last one
        if math.prod(got) == math.prod(expected):
            axes = "an axis of length 1 is" if one else "axes of length 1 are"
            return Mistake("axis_lost", f"{axes} lost, perhaps by squeeze() or indexing")
        axes = "an axis of the output is" if one else "axes of the output are"
        return Mistake("axis_missing", f"{axes} missing, perhaps after indexing, a sum or a mean")
    for first in range(len(got)):
        end = first + missing + 1
        if got == (*expected[:first], math.prod(expected[first:end]), *expected[end:]):
            return Mistake("axes_merged", "axes of the output are merged into one")
    return None


def _state_mistake(answered: AnsweredCall, mismatch: Mismatch) -> Mistake | None:
    """Name a change of state, if that is what is wrong, or explains a wrong output."""
    changed = changed_state(answered.reply)
    is_finding = mismatch.kind == "changed"
    random = answered.call.train or answered.reply.message.get("drew")
    # the mode matters to an output only if something draws
    if "the model's training mode" in changed and (is_finding or random):
        says = "the model is switched between training and eval mode in the call"
        return Mistake("mode_changed", says)
    if "the model's weights" in changed:
        return Mistake("weights_changed", "the call changes the model's weights")
    if "the random seed" in changed and is_finding:
        return Mistake("seeded", "the call sets the random seed: leave that to the caller")
    return None


def _has_few_bits(values: np.ndarray) -> bool:
    """Return whether a float16 could hold all digits of each value."""
    significands, _ = np.frexp(values.astype(np.float64))
    return bool((significands * 2**HALF_BITS % 1 == 0).all())


def _precision_mistake(pair: Pair) -> Mistake | None:
    """Name a lack of precision, if the values are about right."""
    if pair.error <= HALF_ERROR and _has_few_bits(pair.got) and not _has_few_bits(pair.expected):
        says = "the output is only as precise as half precision: something is float16 or bfloat16"
        return Mistake("half_precision", says)
    return None


def _output_mistake(
    evidence: Evidence, answered: AnsweredCall, mismatch: Mismatch
) -> Mistake | None:
    """Name what an output, a gradient or an input shows by itself."""
    match mismatch.kind:
        case "dtype":
            return Mistake("other_type", "the dtype changes along the way")
        case "changed" if mismatch.name in (*answered.recording.inputs, *answered.call.args):
            return Mistake("input_changed", "inputs are changed in place")
        case "gradient" if not mismatch.headline:
            return Mistake("no_gradient", "the output is right, but a gradient is missing")
        case "shape":
            name = mismatch.name
            got = answered.reply.tensors[f"out/{name}"]
            return shape_mistake(got.shape, answered.recording.outputs[name].shape)
        case "values":
            precision = _precision_mistake(mismatch.pair) if mismatch.pair else None
            return _drawing_mistake(evidence) or precision
    return None


def _wrong_in_single(evidence: Evidence, answered: AnsweredCall) -> bool:
    """Return whether a call is also wrong in float32."""
    call = answered.call
    if call.dtype == "float32" or call.arrays != TORCH or evidence.again is None:
        return True
    single = evidence.again(answered, dtype="float32")
    return single.reply.status != "ok" or wrong_output(evidence, single) is not None


def _circumstances(
    evidence: Evidence, answered: AnsweredCall, mismatch: Mismatch
) -> Mistake | None:
    """Say when an output without a named mistake is wrong; None leaves it to the probe to say."""
    kind = mismatch.kind
    probe = answered.probe
    if probe.of_sizes and kind != "finite":
        if _wrong_in_single(evidence, answered):
            return Mistake("some_sizes", "right for some sizes, and wrong for others")
        if kind == "values" and mismatch.pair is not None and mismatch.pair.nearly:
            return Mistake(None, "precise enough for float32, but not for float64")
        return Mistake(None, "right in float32, but wrong in float64")
    if probe.name == NO_DROPOUT and answered.reply.message.get("drew"):
        return Mistake(None, probe.says, ("it draws random numbers, though every rate is 0",))
    # the probe's own headline is about values
    where = "in training mode, " if answered.call.train else ""
    if kind == "finite":
        return Mistake(None, f"{where}the output has values that are NaN or inf")
    if kind == "shape":
        return Mistake(None, f"{where}the output has a wrong shape")
    return None


def general_mistake(
    evidence: Evidence, answered: AnsweredCall, mismatch: Mismatch
) -> Mistake | None:
    """Name what is wrong with an answer, or return None; an exception is its own headline."""
    if mismatch.kind == "raised":
        beginnings = (f"{answered.call.target} should return ", NOT_RETURNED)
        wrong_return = answered.reply.text.startswith(beginnings)
        return Mistake(RETURNS_SOMETHING_ELSE if wrong_return else None, mismatch.lines[0])
    mistake = _state_mistake(answered, mismatch) or _output_mistake(evidence, answered, mismatch)
    if mistake is None and mismatch.kind in ("values", "shape", "finite"):
        return _circumstances(evidence, answered, mismatch)
    return mistake
