"""An exercise with the assignment's own kind of call."""

from tensormark.toolkit import Sizes, exercise, usual


def draw(rng, call):
    """Draw scores."""
    return {"scores": rng.standard_normal((call.sizes.B, call.sizes.C))}


EXERCISE = exercise(
    "greedy",
    ("scores",),
    draw,
    sizes=Sizes(B=8, C=5),
    probes=usual("choice", Sizes(B=9, C=3), gradients=False),
    call={"kind": "choices"},
    id="choice",
    order=5,
    title="the best",
    file="steps.py",
    points={"values": 3, "properties": 1},
)
