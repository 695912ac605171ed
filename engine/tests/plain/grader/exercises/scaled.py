"""The norm."""

from tensormark.toolkit import Sizes, exercise

SIZES = Sizes(B=3, D=5), Sizes(B=2, D=7)


def draw(rng, s):
    """Draw rows."""
    x = rng.standard_normal((s.B, s.D))
    return {"x": x}, {}, x.shape


EXERCISE = exercise(
    "scaled",
    ("x",),
    draw,
    sizes=SIZES,
    id="scaled",
    order=1,
    title="a norm",
    file="norms.py",
    points={"values": 3, "properties": 1},
)
