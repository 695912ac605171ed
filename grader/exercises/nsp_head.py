"""The head that predicts whether the second sentence follows the first."""

import numpy as np

from grader.model import HEADS, OTHER_HEADS
from grader.probes import without_dropout
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.draws import as_weights, dense
from tensormark.toolkit.probes import other_sizes


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw the pooler's output and the head's weights."""
    sizes = call.sizes
    return {
        "pooler_output": rng.standard_normal((sizes.B, sizes.D)),
        "cotangent/output": rng.standard_normal((sizes.B, 2)),
        **as_weights(dense(rng, "seq_relationship", sizes.D, 2)),
    }


EXERCISE = exercise(
    "NextSentenceHead.forward",
    ("pooler_output",),
    draw,
    sizes=HEADS,
    id="nsp_head",
    order=240,
    title="the head that joins sentences",
    points={"values": 1, "properties": 1},
    file="pretraining.py",
    extension=True,
    probes=(
        probe("logits", "values", "nsp_head gives wrong logits", gradients=True),
        other_sizes("nsp_head", OTHER_HEADS),
        without_dropout("nsp_head"),
    ),
)
