"""Words by their first letter: plain values, and an exception."""

from tensormark.toolkit import exercise, refused, usual

LETTERS = list("abcd")


def draw(rng, call):
    """Draw words, one of them empty for the exception."""
    words = ["".join(rng.choice(LETTERS, rng.integers(1, 5))) for _ in range(9)]
    return {"words": [*words, ""] if call.raises else words}


EXERCISE = exercise(
    "grouped", ("words",), draw, arrays=None, file="clusters.py", points=8,
    probes=(*usual("grouped"), refused("an empty word")),
)  # fmt: skip
