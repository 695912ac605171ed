"""A list of plain numbers."""

from grader.exercises.rate import draw
from tensormark.literals import packed
from tensormark.toolkit import Sizes, exercise


def draw_private(rng, s):
    """Draw other numbers."""
    return packed({"number": int(rng.integers(10, 20))}), {}, None


EXERCISE = exercise(
    "rates",
    ("number", "warm"),
    draw,
    sizes=(Sizes(number=9, warm=4), Sizes(number=2, warm=5)),
    literals=dict,
    call={"form": "numbers"},
    without=("second call",),
    given={"rate": {"steps:rate": "rate"}},
    draw_private=draw_private,
    id="rates",
    order=4,
    title="all rates",
    file="steps.py",
    points={"values": 3, "properties": 1},
)
