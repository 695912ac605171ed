"""The mask of a decoder's self-attention."""

from dataclasses import replace

import numpy as np

from grader import probes
from grader.inputs import mask
from grader.model import OTHER_SIZES, BertCall, Sizes
from tensormark.exercise import Exercise, Tensors


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Return the 1/0 mask as integers, like the tokenizer; the second row, or the only one, begins
    with padding, as otherwise what comes later would hide all padding from tokens.
    """
    made = mask(call.sizes)
    row = min(1, len(made) - 1)
    made[row] = np.roll(made[row], 1)
    return {"attention_mask": made}


def draw_private(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw a mask of more tokens: the first of several rows has no padding, a single row has."""
    B, T = call.sizes.B, call.sizes.T + int(rng.integers(1, 6))
    lengths = np.sort(rng.choice(np.arange(2, T), B, replace=False))[::-1]
    if B > 1:
        lengths[0] = T
    return draw(rng, replace(call, sizes=replace(call.sizes, T=T, lengths=tuple(lengths.tolist()))))


def mask_of(sizes: Sizes) -> BertCall:
    """Return a call with a mask of these sizes."""
    return BertCall(
        "causal_mask",
        ("attention_mask",),
        "transformer",
        inputs=f"mask {sizes.B} {sizes.T}",
        kind="mask without rows of padding",
        sizes=sizes,
    )


EXERCISE = Exercise(
    id="causal_mask",
    order=310,
    title="the causal mask",
    points={"values": 4, "properties": 1},
    draw=draw,
    draw_private=draw_private,
    forbidden=(
        "torch.nn.Transformer.generate_square_subsequent_mask",
        "torch.nn.modules.transformer._generate_square_subsequent_mask",
    ),
    file="transformer.py",
    extension=True,
    probes=(
        probes.values("mask", "the mask is wrong", mask_of(Sizes())),
        probes.properties("other sizes", "the mask is wrong for other sizes", mask_of(OTHER_SIZES)),
    ),
)
