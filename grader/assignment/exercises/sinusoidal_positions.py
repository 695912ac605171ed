"""The sinusoidal table of positions."""

import numpy as np

from grader.assignment.model import BertCall
from grader.exercise import Exercise, Probe, Tensors


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Return nothing: the function only takes sizes."""
    return {}


def table(length: int, width: int) -> tuple[BertCall]:
    """Return a call for a table of this size."""
    literals = {"length": length, "width": width}
    return (
        BertCall(
            "sinusoidal_positions",
            ("length", "width"),
            kind="function",
            module="transformer",
            literals=literals,
        ),
    )


EXERCISE = Exercise(
    id="sinusoidal_positions",
    order=300,
    title="positions without learning",
    points={"values": 4, "properties": 1},
    draw=draw,
    file="transformer.py",
    extension=True,
    probes=(
        Probe("table", "values", "the table is wrong", table(9, 10)),
        Probe("long table", "values", "the table is wrong for far positions", table(60, 6)),
        Probe("one position", "properties", "the table of a single position is wrong", table(1, 4)),
    ),
)
