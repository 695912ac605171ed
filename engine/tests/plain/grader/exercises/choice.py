"""An exercise with the assignment's own kind of call."""

from tensormark.toolkit import Sizes, exercise


def draw(rng, s):
    """Draw scores."""
    return {"scores": rng.standard_normal((s.B, s.C))}, {}, None


EXERCISE = exercise(
    "greedy",
    ("scores",),
    draw,
    sizes=(Sizes(B=8, C=5), Sizes(B=9, C=3)),
    call={"kind": "choices", "gradients": False},
    id="choice",
    order=5,
    title="the best",
    file="steps.py",
    points={"values": 3, "properties": 1},
)
