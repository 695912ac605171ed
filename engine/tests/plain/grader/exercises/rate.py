"""A plain number."""

from tensormark.literals import packed
from tensormark.toolkit import Sizes, exercise, probe
from tensormark.toolkit.probes import other_sizes, output


def draw(rng, call):
    """Draw nothing: all inputs are literals."""
    return {}


def draw_private(rng, call):
    """Draw another step to replace the literal."""
    return packed({"step": int(rng.integers(30, 60))})


EXERCISE = exercise(
    "rate",
    ("step", "warm"),
    draw,
    sizes=Sizes(step=9, warm=4),
    literals=dict,
    call={"form": "value"},
    probes=(
        output("rate", gradients=False),
        other_sizes("rate", Sizes(step=2, warm=5)),
        probe(
            "first step",
            "values",
            "the first rate is wrong",
            inputs="first step",
            sizes=Sizes(step=0, warm=3),
        ),
    ),
    draw_private=draw_private,
    order=3,
    file="steps.py",
)
