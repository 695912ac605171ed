"""The detector, which calls the convolution: the student's, or a stand-in if that is wrong."""

import numpy as np

from grader.sizes import MAIN, OTHER
from tensormark.toolkit import Sizes, exercise
from tensormark.toolkit.draws import dense
from tensormark.toolkit.probes import Drawn


def draw(rng: np.random.Generator, s: Sizes) -> Drawn:
    """Draw signals and the weights of both parts; the output is (B, C)."""
    weights = {
        "conv.weight": rng.standard_normal((s.P, s.D, s.K)),
        "conv.bias": np.linspace(-9.0, 2.0, s.P),  # the lowest hides its pattern from the ReLU
        **dense(rng, "head", s.P, s.C),
    }
    return {"signals": rng.standard_normal((s.B, s.D, s.T))}, weights, (s.B, s.C)


EXERCISE = exercise(
    "Detector.forward",
    ("signals",),
    draw,
    options=lambda s: {"channels": s.D, "patterns": s.P, "width": s.K, "classes": s.C},
    given={"conv": {"conv.forward": "convolution"}},
    sizes=(MAIN, OTHER),
    id="detector",
    order=20,
    title="a detector",
    file="detector.py",
    points={"values": 30, "properties": 10},
)
