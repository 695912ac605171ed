"""The convolution."""

from grader.sizes import MAIN, OTHER
from tensormark.toolkit import exercise, usual


def draw(rng, call):
    """Draw signals and a convolution's weights; the output is (B, P, W)."""
    s = call.sizes
    return {
        "signals": rng.standard_normal((s.B, s.D, s.T)),
        "weights/weight": rng.standard_normal((s.P, s.D, s.K)),
        "weights/bias": rng.standard_normal(s.P),
        "cotangent/output": rng.standard_normal((s.B, s.P, s.W)),
    }


EXERCISE = exercise(
    "Convolution.forward",
    ("signals",),
    draw,
    options=lambda s: {"channels": s.D, "patterns": s.P, "width": s.K},
    sizes=MAIN,
    probes=usual("conv", OTHER),
    id="conv",
    file="detector.py",
    points=40,
)
