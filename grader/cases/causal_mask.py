"""The mask of a decoder's self-attention."""

import numpy as np

from grader.cases import OTHER_SIZES, Call, Exercise, Probe, Sizes, Tensors
from grader.cases.drawing import mask


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Return the 1/0 mask, as whole numbers: that is how the tokenizer gives it."""
    return {"attention_mask": mask(call.sizes).astype(np.int64)}


def of(sizes: Sizes) -> tuple[Call]:
    """Return a call with a mask of these sizes."""
    return (
        Call(
            "causal_mask",
            ("attention_mask",),
            kind="function",
            module="transformer",
            inputs=f"mask {sizes.B} {sizes.T}",
            sizes=sizes,
        ),
    )


EXERCISE = Exercise(
    id="causal_mask",
    order=31,
    title="the causal mask",
    points={"values": 4, "properties": 1},
    upstream=(),
    draw=draw,
    file="transformer.py",
    probes=(
        Probe("mask", "values", "the mask is wrong", of(Sizes())),
        Probe("other sizes", "properties", "the mask is wrong for other sizes", of(OTHER_SIZES)),
    ),
)
