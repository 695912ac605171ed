"""The norm."""

from tensormark.toolkit import Sizes, exercise, usual

MAIN = Sizes(B=3, D=5)
OTHER = Sizes(B=2, D=7)


def draw(rng, call):
    """Draw rows."""
    shape = (call.sizes.B, call.sizes.D)
    return {"x": rng.standard_normal(shape), "cotangent/output": rng.standard_normal(shape)}


EXERCISE = exercise(
    "scaled", ("x",), draw, sizes=MAIN, probes=usual("scaled", OTHER), order=1, file="norms.py"
)
