"""The head that predicts whether the second sentence follows the first."""

import functools

import numpy as np

from grader import probes
from grader.model import OTHER_SIZES, BertCall
from tensormark.exercise import Exercise, Tensors
from tensormark.toolkit.draws import as_weights, dense


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw the pooler's output and the head's weights."""
    sizes = call.sizes
    return {
        "pooler_output": rng.standard_normal((sizes.B, sizes.D)),
        "cotangent/output": rng.standard_normal((sizes.B, 2)),
        **as_weights(dense(rng, "seq_relationship", sizes.D, 2)),
    }


forward = functools.partial(
    BertCall, "NextSentenceHead.forward", ("pooler_output",), module="pretraining"
)

EXERCISE = Exercise(
    id="nsp_head",
    order=240,
    title="the head that joins sentences",
    points={"values": 1, "properties": 1},
    draw=draw,
    file="pretraining.py",
    extension=True,
    probes=(
        probes.values("logits", "nsp_head gives wrong logits", forward(gradients=True)),
        probes.other_sizes("nsp_head", forward(inputs="other", sizes=OTHER_SIZES, dtype="float64")),
        probes.without_dropout("nsp_head", forward(train=True)),
    ),
)
