"""The detector, which calls the convolution: the student's, or a stand-in if that is wrong."""

import numpy as np

from grader.sizes import MAIN, OTHER
from tensormark.toolkit import exercise, usual
from tensormark.toolkit.draws import as_weights, dense


def draw(rng, call):
    """Draw signals and the weights of both parts; the output is (B, C)."""
    s = call.sizes
    return {
        "signals": rng.standard_normal((s.B, s.D, s.T)),
        "weights/conv.weight": rng.standard_normal((s.P, s.D, s.K)),
        # the lowest hides its pattern from the ReLU
        "weights/conv.bias": np.linspace(-9.0, 2.0, s.P),
        **as_weights(dense(rng, "head", s.P, s.C)),
        "cotangent/output": rng.standard_normal((s.B, s.C)),
    }


EXERCISE = exercise(
    "Detector.forward",
    ("signals",),
    draw,
    options=lambda s: {"channels": s.D, "patterns": s.P, "width": s.K, "classes": s.C},
    given={"conv": {"conv.forward": "convolution"}},
    sizes=MAIN,
    probes=usual("detector", OTHER),
    id="detector",
    file="detector.py",
    points=40,
)
