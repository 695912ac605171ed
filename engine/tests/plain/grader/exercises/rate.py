"""A plain number."""

from tensormark.literals import packed
from tensormark.toolkit import Sizes, exercise
from tensormark.toolkit.probes import Further


def draw(rng, s):
    """Draw nothing: all inputs are literals."""
    return {}, {}, None


def draw_private(rng, s):
    """Draw another step to replace the literal."""
    return packed({"step": int(rng.integers(30, 60))}), {}, None


EXERCISE = exercise(
    "rate",
    ("step", "warm"),
    draw,
    sizes=(Sizes(step=9, warm=4), Sizes(step=2, warm=5)),
    literals=dict,
    call={"form": "number"},
    without=("second call",),
    further=(
        Further("first step", "values", "the first rate is wrong", sizes=Sizes(step=0, warm=3)),
    ),
    draw_private=draw_private,
    id="rate",
    order=3,
    title="a rate",
    file="steps.py",
    points={"values": 3, "properties": 1},
)
