"""The joint loss of both pre-training tasks."""

import numpy as np

from grader.model import HEADS, OTHER_HEADS
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.probes import other_sizes

IGNORED = -100


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw logits and labels; some tokens have one, the id 0 among them.

    Of the next sentences, the first is not predicted correctly.
    """
    B, T, V = call.sizes.B, call.sizes.T, call.sizes.V
    labels = np.where(rng.random((B, T)) < 0.4, rng.integers(0, V, (B, T)), IGNORED)
    labels[0, :2] = 0, V - 1
    if call.inputs == "chosen":
        labels = labels[labels != IGNORED]
    next_logits = 2.0 * rng.standard_normal((B, 2))
    next_logits[0].sort()
    return {
        "prediction_logits": 2.0 * rng.standard_normal((*labels.shape, V)),
        "labels": labels,
        "next_logits": next_logits,
        "next_labels": np.arange(B) % 2,
        "cotangent/output": np.array(1.0),
    }


EXERCISE = exercise(
    "pretraining_loss",
    ("prediction_logits", "labels", "next_logits", "next_labels"),
    draw,
    sizes=HEADS,
    order=250,
    title="the joint loss",
    points={"values": 3, "properties": 1},
    file="pretraining.py",
    extension=True,
    probes=(
        probe("loss", "values", "pretraining_loss is wrong", gradients=True),
        other_sizes("pretraining_loss", OTHER_HEADS),
        probe(
            "chosen tokens",
            "properties",
            "pretraining_loss is wrong for tokens without an axis of rows",
            inputs="chosen",
            form="value",
        ),
    ),
)
