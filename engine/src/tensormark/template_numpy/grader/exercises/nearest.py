"""The nearest center of each point: arrays."""

import numpy as np

from tensormark.toolkit import Call, Sizes, Tensors, exercise, usual


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw points and centers."""
    s = call.sizes
    return {"points": rng.standard_normal((s.N, s.D)), "centers": rng.standard_normal((s.K, s.D))}


EXERCISE = exercise(
    "nearest", ("points", "centers"), draw, sizes=Sizes(N=20, D=3, K=4), arrays="numpy",
    probes=usual("nearest", Sizes(N=1, D=2, K=7)),
    id="nearest", order=10, title="the nearest center", file="clusters.py",
    points={"values": 6, "properties": 2},
)  # fmt: skip
