"""The mask of a decoder's self-attention."""

import numpy as np

from grader.assignment.inputs import mask
from grader.assignment.model import OTHER_SIZES, BertCall, Sizes
from grader.exercise import Exercise, Probe, Tensors


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Return the 1/0 mask as integers, like the tokenizer."""
    return {"attention_mask": mask(call.sizes).astype(np.int64)}


def of(sizes: Sizes) -> tuple[BertCall]:
    """Return a call with a mask of these sizes."""
    return (
        BertCall(
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
    order=310,
    title="the causal mask",
    points={"values": 4, "properties": 1},
    draw=draw,
    file="transformer.py",
    extension=True,
    probes=(
        Probe("mask", "values", "the mask is wrong", of(Sizes())),
        Probe("other sizes", "properties", "the mask is wrong for other sizes", of(OTHER_SIZES)),
    ),
)
