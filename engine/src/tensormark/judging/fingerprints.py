"""Fingerprints of answers: recorded for wrong variants, and compared with a student's.

A tensor's fingerprint is its form (shape and type) and a few random projections of its values,
seeded by the tensor's name; for values that are NaN or infinite, only their positions count. The
recorder uses the same functions for variants, so the two cannot diverge.
"""

import dataclasses
import functools
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.exercise import Call, Examine, Probe
from tensormark.judging.compare import Tolerance
from tensormark.references import Recording, Tensors, under
from tensormark.sandbox.interface import Reply
from tensormark.worker.protocol import ARGUMENTS
from tensormark.worker.values import outline, unpacked

SUMS = 4  # per tensor; different tensors practically never agree in all of them
WIDTH = 1 + SUMS
MAX_VALUES = 1 << 15  # values in a tensor that is projected; those of the exercises have up to 8000
# Codes in place of a form. UNDECIDED and RANDOM are only recorded: rounding or chance decides the
# outcome; the form of a random tensor follows its code.
RAISED = -1.0
MISSING = -2.0
RANDOM = -3.0
NOT_FINITE = -4.0
UNDECIDED = -5.0
MAX_CACHED = 128  # projections to cache; those of all exercises take 2 MB


@dataclasses.dataclass(frozen=True)
class Observation:
    """The fingerprints of one call, with those of the solution and its wrong variants.

    Attributes:
        got: (entries, WIDTH), the student's fingerprints.
        rows: (variants, entries, WIDTH); the first row is the solution's.
        allowed: (entries, WIDTH), how far a sum may be off, for sums of order 1.
        training: whether the call was made in training mode.
        inputs: identifies the function and its inputs; equal for calls that differ only in mode.
        outputs: name of an output to its index among the entries; empty for random outputs; in eval
            mode without outputs of all equal values, which say nothing about dropout.
        drew: whether the call drew random numbers, according to the worker.
    """

    got: np.ndarray
    rows: np.ndarray
    allowed: np.ndarray
    training: bool = False
    inputs: str = ""
    outputs: Mapping[str, int] = dataclasses.field(default_factory=dict)
    drew: bool = True


@dataclasses.dataclass(frozen=True)
class AnsweredCall:
    """A call with its recording and the student's reply."""

    probe: Probe
    call: Call
    recording: Recording
    reply: Reply

    @property
    def was_not_called(self) -> bool:
        """Whether the function lacks a parameter that is optional in this call."""
        return bool(self.call.optional) and self.reply.message.get("lacks") is True

    @functools.cached_property
    def names(self) -> list[str]:
        """The names of the solution's tensors, in the order of their fingerprints."""
        return sorted(self.recording.answers)

    @property
    def outputs(self) -> Tensors:
        """The outputs that the solution has, too, as far as the reply has them."""
        sent = self.reply.tensors
        return {n: sent[f"out/{n}"] for n in self.recording.outputs if f"out/{n}" in sent}

    @property
    def examine(self) -> Examine | None:
        """What judges random outputs; None if they are compared."""
        return self.probe.examine if self.probe.draws(self.call) else None


# --- one tensor, and one call ---


@functools.lru_cache(MAX_CACHED)
def projections(name: str, size: int) -> np.ndarray:
    """Return random projections (SUMS, size) for a tensor of this name, of length about 1."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return np.asarray(rng.standard_normal((SUMS, size)) / np.sqrt(max(size, 1)))


def checksum(content: bytes) -> float:
    """Return a number that identifies some bytes."""
    return float(zlib.crc32(content) & 0xFFFFFF)


def form(array: np.ndarray) -> float:
    """Return a number that identifies a shape and a type."""
    return checksum(f"{array.shape} {array.dtype}".encode())


def entry(code: float, values: np.ndarray | Sequence[float] = ()) -> np.ndarray:
    """Return one fingerprint (WIDTH,)."""
    fingerprint = np.zeros(WIDTH)
    fingerprint[0] = code
    fingerprint[1 : 1 + len(values)] = values
    return fingerprint


def of_tensor(name: str, array: np.ndarray | None, plain: bool = False) -> np.ndarray:
    """Return the fingerprint of a tensor, or of a missing one.

    Args:
        plain: whether it is a packed plain value, of which the floating-point numbers may be off.
    """
    if array is None:
        return entry(MISSING)
    code = form(array)
    if plain:
        try:
            text, numbers = outline(unpacked(array))
        except (ValueError, TypeError):
            return entry(code)
        code = checksum(text.encode("utf-8", "replace"))
        array = np.array(numbers)
    if array.size > MAX_VALUES:  # projections of arbitrarily large tensors would use up memory
        return entry(code)
    values = array.astype(np.float64).ravel()
    finite = np.isfinite(values)
    if not finite.any() and array.size:
        return entry(NOT_FINITE, [code])
    if not finite.all():
        code += checksum(np.packbits(finite).tobytes())
        values = np.where(finite, values, 0.0)
    with np.errstate(all="ignore"):
        return entry(code, projections(name, array.size) @ values)


# --- a reply ---


def tolerance_kind(name: str, call: Call) -> str:
    """Return which of the manifest's tolerances applies to a tensor of a call."""
    if call.dtype == "float64":
        return "float64"
    return "gradients" if name.startswith("grad/") else "outputs"


def tolerance_of(entry: Mapping[str, Any], name: str, call: Call) -> Tolerance:
    """Return the tolerance of a tensor of a call, by the manifest's entry for its exercise."""
    return Tolerance(**entry["tolerance"][tolerance_kind(name, call)])


def changed_state(reply: Reply) -> list[str]:
    """List the parts of the state that a call changed."""
    return [name for name in reply.message.get("changed", ()) if name not in ARGUMENTS]


def changed_inputs(answered: AnsweredCall) -> list[str]:
    """List the inputs that are not as they were sent after a call."""
    sent = answered.recording.inputs
    changed = answered.reply.message.get("changed", ())
    return [
        name for name, place in zip(answered.call.args, ARGUMENTS, strict=False) if place in changed
    ] + [
        name
        for name, value in under(answered.reply.tensors, "after/").items()
        if name not in sent
        or not np.array_equal(value, sent[name].astype(value.dtype), equal_nan=True)
    ]


def side_effects(answered: AnsweredCall) -> float:
    """Return a number that identifies the inputs and the state that a call has changed."""
    changed = [*changed_inputs(answered), *changed_state(answered.reply)]
    return checksum(" ".join(changed).encode())


def of_draws(answered: AnsweredCall, examine: Examine) -> np.ndarray:
    """Return the fingerprint of random outputs: of their statistics, if they can be measured."""
    got = answered.outputs
    names = sorted(answered.recording.outputs)
    for name in names:
        if name not in got or not 0 < got[name].size <= MAX_VALUES:  # nothing to measure
            return of_tensor(name, got.get(name))
    try:
        with np.errstate(all="ignore"):  # a wrong output may be arbitrarily large
            measured = examine.measure(got, answered.recording.inputs)
    except (ValueError, KeyError, IndexError, TypeError):  # a wrong shape; its form is enough
        measured = np.zeros(0)
    return entry(sum(form(got[name]) for name in names), measured)


def fingerprints(answered: AnsweredCall) -> np.ndarray:
    """Return the fingerprints (entries, WIDTH) of one reply: of each tensor, and of side effects.

    For random outputs, those of their statistics and of side effects.
    """
    examine = answered.examine
    reply = answered.reply
    if reply.status != "ok":
        return np.stack([entry(RAISED)] * (2 if examine else len(answered.names) + 1))
    if examine is not None:
        entries = [of_draws(answered, examine)]
    else:
        plain = answered.call.is_plain
        entries = [of_tensor(name, reply.tensors.get(name), plain) for name in answered.names]
    return np.stack([*entries, entry(side_effects(answered))])


def allowed(answered: AnsweredCall, manifest_entry: Mapping[str, Any]) -> np.ndarray:
    """Return how far each value of a call's `fingerprints` may be off; codes must be equal."""
    if answered.examine is not None:
        return np.stack([entry(0.0, answered.examine.spread), entry(0.0)])
    limits = [tolerance_of(manifest_entry, name, answered.call).atol for name in answered.names]
    sums = [entry(0.0, [limit] * SUMS) for limit in limits]
    return np.stack([*sums, entry(0.0)])


def _varies(output: np.ndarray | None) -> bool:
    """Return whether an output's values differ from each other; a single one must differ from 0.

    If all values are equal, the function may ignore what it has computed.
    """
    if output is None or not 0 < output.size <= MAX_VALUES:
        return False
    return bool((output != (0 if output.size == 1 else output.flat[0])).any())


def observe(answered: AnsweredCall, manifest_entry: Mapping[str, Any]) -> Observation:
    """Return an answer's fingerprints, with those of the solution and its variants."""
    call = answered.call
    numbered = {
        name: number
        for number, name in enumerate(answered.names)
        if name.startswith("out/") and answered.examine is None
        if call.train or _varies(answered.reply.tensors.get(name))
    }
    return Observation(
        fingerprints(answered),
        answered.recording.wrong,
        allowed(answered, manifest_entry),
        call.train,
        f"{call.target} {call.args} {call.inputs} {call.dtype} {sorted(call.stand_ins)}",
        numbered,
        bool(answered.reply.message.get("drew")),
    )
