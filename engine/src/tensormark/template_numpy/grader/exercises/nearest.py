"""The nearest center of each point: arrays."""

from tensormark.toolkit import Sizes, exercise, usual


def draw(rng, call):
    """Draw points and centers."""
    s = call.sizes
    return {"points": rng.standard_normal((s.N, s.D)), "centers": rng.standard_normal((s.K, s.D))}


EXERCISE = exercise(
    "nearest", ("points", "centers"), draw, arrays="numpy", file="clusters.py", points=8,
    sizes=Sizes(N=20, D=3, K=4), probes=usual("nearest", Sizes(N=1, D=2, K=7)),
)  # fmt: skip
