"""A trial to test with: the exercise `layer`, which calls the exercise `norm`, and replies."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from tensormark.exercise import Assignment, Call, Exercise, Probe
from tensormark.judging.fingerprints import AnsweredCall, fingerprints
from tensormark.judging.trial import Trial
from tensormark.references import Recording
from tensormark.result import Outcome, Result
from tensormark.sandbox.interface import Reply

X = np.arange(6.0).reshape(2, 3)
OUTPUT = 2 * X + 1
GRADIENT = np.full((2, 3), 2.0)
OWN_CALL = Call("Layer.forward", ("x",), "main")
CALL_GIVEN_NORM = replace(OWN_CALL, given=("norm",))
CALL_GIVEN_BOTH = replace(OWN_CALL, given=("norm", "embed"))
POINTS = {"values": 6, "training": 3, "properties": 1}
VALUES = Probe("output", "values", "the output is wrong", (OWN_CALL, CALL_GIVEN_NORM))


def make_exercise(id, *probes, upstream=(), **more):
    names = dict.fromkeys(upstream)
    for probe in probes:
        for call in probe.calls:
            names |= dict.fromkeys(call.given)
    return Exercise(id, 1, "", "main.py", POINTS, tuple(names), probes, **more)


NORM, EMBED = (
    make_exercise(name, replace(VALUES, calls=(replace(OWN_CALL, target=name),)))
    for name in ("norm", "embed")
)
LAYER = make_exercise("layer", VALUES)


def assignment(*exercises, **fields):
    return Assignment("Toy", Path("toy"), ("main.py",), (), exercises, Path("harness.py"), **fields)


def reply(output=OUTPUT, status="ok", text="", tensors=None, **message):
    outputs = {} if output is None else {"out/output": output.astype("f4")}
    return Reply(status, text, {"changed": [], **message}, outputs | (tensors or {}))


CORRECT = reply()
WRONG = reply(OUTPUT + 1)
RAISED = reply(None, "error", "raised ValueError: no (main.py, line 3)")
# what each row of the fingerprints returns
VARIANTS = {"doubled": 2 * OUTPUT, "shifted": OUTPUT + 5, "doubled+shifted": 2 * OUTPUT + 5}
LIMIT = {"rtol": 1e-5, "atol": 1e-5}
MANIFEST_ENTRY = {
    "tolerance": dict.fromkeys(("outputs", "gradients", "float64"), LIMIT),
    "rows": ["the solution", *VARIANTS],
    "variants": {
        "doubled": {"says": "it is doubled", "section": "The scale"},
        "shifted": {"says": "it is shifted", "section": "The bias", "seen": 3},
    },
}


def recording(probe, call, gradients):
    tensors = {f"grad/{name}": value.astype("f4") for name, value in gradients.items()}
    right = Recording({"x": X}, {"output": OUTPUT}, gradients, np.zeros(0))
    rows = [
        fingerprints(AnsweredCall(probe, call, right, reply(output, tensors=tensors)))
        for output in (OUTPUT, *VARIANTS.values())
    ]
    return replace(right, wrong=np.stack(rows))


def trial(*replies, exercise=LAYER, failed=(), gradients=None, fields=None, **more):
    """Return the trial of an exercise whose calls got these replies; the last one is repeated."""
    asked = exercise.asked
    replies += replies[-1:] * (len(asked) - len(replies))
    answered = [
        AnsweredCall(probe, call, recording(probe, call, gradients or {}), answer)
        for (probe, call), answer in zip(asked, replies, strict=True)
    ]
    more.setdefault("entry", MANIFEST_ENTRY)
    toy = assignment(NORM, EMBED, exercise, make_exercise("task"), **(fields or {}))
    lost = frozenset({"properties"})
    results = {name: Result(name, Outcome.FAILED, 9.0, 10.0, lost=lost) for name in failed}
    return Trial(toy, exercise, answered, results=results, **more)


def finding(layer_trial):
    (first, *_) = layer_trial.result().findings
    return first
