"""The sinusoidal table of positions."""

import numpy as np

from grader import probes
from grader.inputs import no_inputs
from grader.model import BertCall
from tensormark.exercise import Exercise, Tensors
from tensormark.literals import packed


def draw_private(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw other sizes; no column is that of a public table, as the widths differ."""
    length, width = call.literals["length"], int(2 * rng.integers(6, 40))
    if length > 1:
        length += int(rng.integers(1, 30))
    return packed({"length": length, "width": width})


def table(length: int, width: int) -> BertCall:
    """Return a call for a table of this size."""
    literals = {"length": length, "width": width}
    return BertCall(
        "sinusoidal_positions",
        tuple(literals),
        "transformer",
        inputs=f"length {length}",
        kind="function",
        literals=literals,
    )


EXERCISE = Exercise(
    id="sinusoidal_positions",
    order=300,
    title="positions without learning",
    points={"values": 4, "properties": 1},
    draw=no_inputs,
    draw_private=draw_private,
    file="transformer.py",
    extension=True,
    axes={2: ("position", "unit")},
    probes=(
        probes.values("table", "the table is wrong", table(9, 10)),
        probes.values("long table", "the table is wrong for far positions", table(60, 6)),
        probes.properties("one position", "the table of a single position is wrong", table(1, 4)),
    ),
)
