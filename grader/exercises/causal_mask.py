"""The mask of a decoder's self-attention."""

from dataclasses import replace

import numpy as np

from grader.inputs import mask
from grader.model import MAIN, OTHER
from tensormark.toolkit import Call, Tensors, exercise, probe


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Return the 1/0 mask as integers, like the tokenizer; the second row, or the only one, begins
    with padding, as otherwise what comes later would hide all padding from tokens.
    """
    made = mask(call.sizes)
    row = min(1, len(made) - 1)
    made[row] = np.roll(made[row], 1)
    return {"attention_mask": made}


def draw_private(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw a mask of more tokens: the first of several rows has no padding, a single row has."""
    B = call.sizes.B
    T = call.sizes.T + int(rng.integers(1, 6))
    lengths = np.sort(rng.choice(np.arange(2, T), B, replace=False))[::-1]
    if B > 1:
        lengths[0] = T
    other = call.sizes | {"T": T, "lengths": tuple(lengths.tolist())}
    return draw(rng, replace(call, sizes=other))


EXERCISE = exercise(
    "causal_mask",
    ("attention_mask",),
    draw,
    draw_private=draw_private,
    sizes=MAIN,
    order=310,
    title="the causal mask",
    points={"values": 4, "properties": 1},
    forbidden=(
        "torch.nn.Transformer.generate_square_subsequent_mask",
        "torch.nn.modules.transformer._generate_square_subsequent_mask",
    ),
    file="transformer.py",
    extension=True,
    call={"kind": "mask without rows of padding"},
    probes=(
        probe("mask", "values", "the mask is wrong", inputs="mask 3 7"),
        probe(
            "other sizes",
            "properties",
            "the mask is wrong for other sizes",
            inputs="mask 1 4",
            sizes=OTHER,
        ),
    ),
)
