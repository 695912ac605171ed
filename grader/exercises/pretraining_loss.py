"""The joint loss of both pre-training tasks."""

import functools

import numpy as np

from grader import probes
from grader.model import OTHER_SIZES, BertCall
from tensormark.exercise import Exercise, Tensors

IGNORED = -100


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
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


loss = functools.partial(
    BertCall,
    "pretraining_loss",
    ("prediction_logits", "labels", "next_logits", "next_labels"),
    kind="function",
    module="pretraining",
)

EXERCISE = Exercise(
    id="pretraining_loss",
    order=250,
    title="the joint loss",
    points={"values": 3, "properties": 1},
    draw=draw,
    file="pretraining.py",
    extension=True,
    probes=(
        probes.values("loss", "pretraining_loss is wrong", loss(gradients=True)),
        probes.other_sizes(
            "pretraining_loss", loss(inputs="other", sizes=OTHER_SIZES, dtype="float64")
        ),
        probes.properties(
            "chosen tokens",
            "pretraining_loss is wrong for tokens without an axis of rows",
            loss(inputs="chosen", form="number"),
        ),
    ),
)
