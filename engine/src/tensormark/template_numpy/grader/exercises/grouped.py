"""Words by their first letter: plain values, and an exception."""

from typing import Any

import numpy as np

from tensormark.toolkit import Call, exercise, probe

LETTERS = list("abcd")


def draw(rng: np.random.Generator, call: Call) -> dict[str, Any]:
    """Draw words, one of them empty for the exception."""
    words = ["".join(rng.choice(LETTERS, rng.integers(1, 5))) for _ in range(9)]
    return {"words": [*words, ""] if call.raises else words}


EXERCISE = exercise(
    "grouped", ("words",), draw, arrays="numpy", call={"form": "value"},
    probes=(
        probe("groups", "values", "words are in wrong groups"),
        probe("empty", "properties", "an empty word is accepted", inputs="empty",
              raises="ValueError"),
    ),
    id="grouped", order=20, title="words by letter", file="clusters.py",
    points={"values": 6, "properties": 2},
)  # fmt: skip
