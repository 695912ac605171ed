"""The convolution."""

import numpy as np

from grader.sizes import MAIN, OTHER
from tensormark.toolkit import Sizes, exercise
from tensormark.toolkit.probes import Drawn


def draw(rng: np.random.Generator, s: Sizes) -> Drawn:
    """Draw signals and a convolution's weights; the output is (B, P, W)."""
    weights = {"weight": rng.standard_normal((s.P, s.D, s.K)), "bias": rng.standard_normal(s.P)}
    return {"signals": rng.standard_normal((s.B, s.D, s.T))}, weights, (s.B, s.P, s.W)


EXERCISE = exercise(
    "Convolution.forward",
    ("signals",),
    draw,
    options=lambda s: {"channels": s.D, "patterns": s.P, "width": s.K},
    sizes=(MAIN, OTHER),
    id="conv",
    order=10,
    title="a convolution",
    file="detector.py",
    points={"values": 30, "properties": 10},
)
