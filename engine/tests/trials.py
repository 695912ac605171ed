"""A trial to test with: an exercise, `layer`, that calls another, `norm`, and answers to it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tensormark.exercise import Assignment, Call, Exercise, Probe
from tensormark.judging.checks import judge
from tensormark.judging.fingerprints import AnsweredCall, fingerprints
from tensormark.judging.trial import Trial
from tensormark.references import Recording
from tensormark.result import Finding
from tensormark.sandbox.interface import Reply

X = np.arange(6.0).reshape(2, 3)
OUT = 2 * X + 1
GRAD = np.full((2, 3), 2.0)
STATE = {"seed": 1}
OWN = Call("Layer.forward", ("x",), "main")
GIVEN = replace(OWN, given=("norm",))
BOTH = replace(OWN, given=("norm", "embed"))
POINTS = {"values": 6, "training": 3, "properties": 1}
VALUES = Probe("output", "values", "the output is wrong", (OWN, GIVEN))


def exercise(id: str, *probes: Probe, upstream: tuple[str, ...] = (), **more: Any) -> Exercise:
    return Exercise(id, 1, "", "main.py", POINTS, upstream, probes, **more)


NORM_CALL = replace(OWN, target="norm")
NORM = exercise("norm", replace(VALUES, calls=(NORM_CALL,)))
EMBED = exercise("embed", replace(VALUES, calls=(replace(OWN, target="embed"),)))
LAYER = exercise("layer", VALUES, upstream=("norm",))
LEVELS = exercise(
    "layer", replace(VALUES, calls=(OWN, GIVEN, replace(OWN, given=("embed",)), BOTH))
)


def assignment(*exercises: Exercise, **fields: Any) -> Assignment:
    return Assignment("Toy", Path("toy"), ("main.py",), (), exercises, Path("harness.py"), **fields)


def reply(
    output: np.ndarray | None = OUT,
    status: str = "ok",
    text: str = "",
    tensors: dict[str, np.ndarray] | None = None,
    **message: Any,
) -> Reply:
    outputs = {} if output is None else {"out/output": output.astype("f4")}
    state = {"before": STATE, "after": STATE}
    return Reply(status, text, {**state, **message}, outputs | (tensors or {}))


RIGHT, WRONG = reply(), reply(OUT + 1)
RAISES = reply(None, "error", "raised ValueError: no (main.py, line 3)")
HOLE = reply(None, "not written", "layer")
TOLERANCE = {name: {"rtol": 1e-5, "atol": 1e-5} for name in ("outputs", "gradients", "float64")}
# what each row of the fingerprints returns
VARIANTS = {"doubled": 2 * OUT, "shifted": OUT + 5, "doubled+shifted": 2 * OUT + 5}
ENTRY = {
    "tolerance": TOLERANCE,
    "rows": ["the solution", *VARIANTS],
    "variants": {
        "doubled": {"says": "it is doubled", "section": "The scale"},
        "shifted": {"says": "it is shifted", "section": "The bias", "seen": 3},
    },
}


def recording(probe: Probe, call: Call, gradients: dict[str, np.ndarray]) -> Recording:
    names = sorted(["out/output", *(f"grad/{name}" for name in gradients)])
    grads = {f"grad/{name}": value.astype("f4") for name, value in gradients.items()}
    wrong = [
        fingerprints(probe, call, names, {"x": X}, reply(output, tensors=grads))
        for output in (OUT, *VARIANTS.values())
    ]
    return Recording({"x": X}, {"output": OUT}, gradients, np.stack(wrong))


def trial(
    *replies: Reply,
    of: Exercise = LAYER,
    failed: Sequence[str] = (),
    gradients: dict[str, np.ndarray] | None = None,
    fields: dict[str, Any] | None = None,
    **more: Any,
) -> Trial:
    """Return the trial of an exercise whose calls got these replies; the last one is repeated."""
    calls = [(probe, call) for probe in of.probes for call in probe.calls]
    padded = [*replies, *[replies[-1]] * (len(calls) - len(replies))]
    answered = [
        AnsweredCall(probe, call, recording(probe, call, gradients or {}), answer)
        for (probe, call), answer in zip(calls, padded, strict=True)
    ]
    more.setdefault("entry", ENTRY)
    course = assignment(NORM, EMBED, of, exercise("task"), **(fields or {}))
    return Trial(course, of, answered, failed=frozenset(failed), **more)


def finding(tried: Trial) -> Finding:
    (first, *_) = judge(tried).findings
    return first
