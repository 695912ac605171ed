"""What diagnosis is told: of one call its fingerprints, beside the solution's and the variants'.

The recorder makes the rows of variants with the same functions, so that the two cannot drift apart.
"""

import dataclasses
import re
import zlib
from collections.abc import Callable, Sequence

import numpy as np

from grader.cases import Call, Probe, Tensors
from grader.compare import Tolerance
from grader.diagnose import (
    MOST,
    Seen,
    entry,
    form,
    locate,
    of_call,
    of_tensor,
    raised,
    tolerances,
)
from grader.sandbox import Reply
from grader.store import Recording, under
from grader.wall import printable

LOCATION = re.compile(r" \([^()]*, line \d+\)$")  # differs between two who make the same mistake


@dataclasses.dataclass(frozen=True)
class Answered:
    """A call with its recording and the student's reply."""

    probe: Probe
    call: Call
    recording: Recording
    reply: Reply

    @property
    def expected(self) -> Tensors:
        """The reference's tensors under the reply's names."""
        outputs = {f"out/{name}": value for name, value in self.recording.outputs.items()}
        return outputs | {f"grad/{name}": v for name, v in self.recording.gradients.items()}


def kind_of(name: str, call: Call) -> str:
    """Return which of the manifest's tolerances is for a tensor of a call."""
    if call.dtype == "float64":
        return "float64"
    return "gradients" if name.startswith("grad/") else "outputs"


def changed_state(reply: Reply) -> list[str] | None:
    """Name what a call has changed of the state; None when the worker did not report it.

    A state is a plain value: what nests counts as changed, for it may be too deep to compare.
    """
    before, after = (reply.message.get(key) for key in ("before", "after"))
    if not isinstance(before, dict) or not isinstance(after, dict):
        return None
    nested = (dict, list)
    return [
        printable(str(key))
        for key, value in before.items()
        if isinstance(value, nested)
        or isinstance(after.get(key), nested)
        or value != after.get(key)
    ]


def side_effects(sent: Tensors, reply: Reply) -> float:
    """Return a number that stands for the inputs and the state that a call has changed."""
    after = under(reply.tensors, "after/")
    changed = [
        printable(name)
        for name in sorted(after)
        if name not in sent
        or after[name].shape != sent[name].shape
        or not np.array_equal(after[name], sent[name].astype(after[name].dtype), equal_nan=True)
    ]
    changed += changed_state(reply) or []
    return float(zlib.crc32(" ".join(changed).encode()) & 0xFFFFFF)


def fingerprints(
    probe: Probe, call: Call, names: Sequence[str], sent: Tensors, reply: Reply
) -> np.ndarray:
    """Return the fingerprints of one reply; of one drawn at random, what was measured of it.

    Args:
        names: of the tensors that the solution gives.
        sent: the inputs of the call.
    """
    drawn = probe.draws(call)
    if reply.status != "ok":
        return raised([""] if drawn else names, LOCATION.sub("", reply.text))
    effects = side_effects(sent, reply)
    if not drawn:
        return of_call(names, reply.tensors, effects)
    assert probe.examine is not None
    got = under(reply.tensors, "out/")
    outputs = [name.removeprefix("out/") for name in names if name.startswith("out/")]
    for name in outputs:
        if name not in got or got[name].size > MOST:
            return np.stack([of_tensor(name, got.get(name)), entry(effects)])
    try:
        with np.errstate(all="ignore"):  # a wrong output may be as large as it likes
            measured = probe.examine.measure(got, sent)
    except (ValueError, KeyError, IndexError, TypeError):  # another shape; its form says enough
        measured = np.zeros(0)
    forms = sum(form(got[name]) for name in outputs)
    return np.stack([entry(forms, measured), entry(effects)])


def allowed(
    probe: Probe, call: Call, names: Sequence[str], tolerance: Callable[[str, Call], Tolerance]
) -> np.ndarray:
    """Return how far the fingerprints of a call may be off, beside `fingerprints`."""
    if not probe.draws(call):
        return tolerances(names, {name: tolerance(name, call) for name in names})
    assert probe.examine is not None
    return np.stack([entry(0.0, probe.examine.spread), entry(0.0)])


def evidence(answered: Answered, tolerance: Callable[[str, Call], Tolerance]) -> Seen:
    """Put an answer beside those of the solution and of the variants."""
    probe, call, recording = answered.probe, answered.call, answered.recording
    names = sorted(answered.expected)
    got = fingerprints(probe, call, names, recording.inputs, answered.reply)
    return Seen(got, recording.wrong, allowed(probe, call, names, tolerance))


def where(answered: Answered) -> list[str]:
    """Say in a line where the first output that is wrong is off, if that stands out."""
    inputs, got = answered.recording.inputs, under(answered.reply.tensors, "out/")
    padding = None
    if "input_ids" in inputs:
        padding = inputs["input_ids"] == 0
    elif "attention_mask" in inputs:
        mask = inputs["attention_mask"]
        padding = mask[:, 0, 0] < 0 if mask.ndim == 4 else mask == 0
    for name, expected in answered.recording.outputs.items():
        with np.errstate(all="ignore"):
            line = locate(got[name], expected, padding) if name in got else None
        if line is not None:
            return [line]
    return []
