"""A list of plain numbers."""

from grader.exercises.rate import draw
from tensormark.literals import packed
from tensormark.toolkit import Sizes, exercise
from tensormark.toolkit.probes import other_sizes, output


def draw_private(rng, call):
    """Draw other numbers."""
    return packed({"number": int(rng.integers(10, 20))})


EXERCISE = exercise(
    "rates",
    ("number", "warm"),
    draw,
    sizes=Sizes(number=9, warm=4),
    literals=dict,
    call={"form": "value"},
    probes=(output("rates", gradients=False), other_sizes("rates", Sizes(number=2, warm=5))),
    given={"rate": {"steps:rate": "rate"}},
    draw_private=draw_private,
    id="rates",
    order=4,
    title="all rates",
    file="steps.py",
    points={"values": 3, "properties": 1},
)
