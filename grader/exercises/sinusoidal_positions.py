"""The sinusoidal table of positions."""

import numpy as np

from grader.inputs import no_inputs
from tensormark.literals import packed
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.probes import Case


def draw_private(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw other sizes; no column is that of a public table, as the widths differ."""
    length = call.literals["length"]
    width = int(2 * rng.integers(6, 40))
    if length > 1:
        length += int(rng.integers(1, 30))
    return packed({"length": length, "width": width})


def table(name: str, part: str, says: str, *size: int) -> Case:
    """Probe a table of this length and width."""
    literals = dict(zip(("length", "width"), size, strict=True))
    return probe(name, part, says, inputs=f"length {size[0]}", literals=literals)


EXERCISE = exercise(
    "sinusoidal_positions",
    ("length", "width"),
    no_inputs,
    draw_private=draw_private,
    order=300,
    title="positions without learning",
    points={"values": 4, "properties": 1},
    file="transformer.py",
    extension=True,
    axes={2: ("position", "unit")},
    probes=(
        table("table", "values", "the table is wrong", 9, 10),
        table("long table", "values", "the table is wrong for far positions", 60, 6),
        table("one position", "properties", "the table of a single position is wrong", 1, 4),
    ),
)
