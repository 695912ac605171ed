"""The head that says whether the second sentence follows the first."""

import functools

import numpy as np

from grader.cases import OTHER_SIZES, Call, Exercise, Probe, Tensors
from grader.cases.drawing import as_weights, dense


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw the pooler's output and the head's weights."""
    sizes = call.sizes
    return {
        "pooler_output": rng.standard_normal((sizes.B, sizes.D)),
        "cotangent/output": rng.standard_normal((sizes.B, 2)),
        **as_weights(dense(rng, "seq_relationship", sizes.D, 2)),
    }


forward = functools.partial(
    Call, "NextSentenceHead.forward", ("pooler_output",), module="pretraining"
)

EXERCISE = Exercise(
    id="nsp_head",
    order=24,
    title="the head that joins sentences",
    points={"values": 1, "properties": 1},
    upstream=(),
    draw=draw,
    file="pretraining.py",
    probes=(
        Probe("logits", "values", "nsp_head gives wrong logits", (forward(gradients=True),)),
        Probe(
            "other sizes",
            "properties",
            "nsp_head is wrong for other sizes or in float64",
            (forward(inputs="other", sizes=OTHER_SIZES, dtype="float64"),),
        ),
    ),
)
