"""Attention: scaled dot-product attention over heads, with mask and dropout.

Dimension key: B batch, T tokens, D model width, H heads, d head width.
"""

import numpy as np

from grader.cases import OTHER_SIZES, Call, Exercise, Probe, Sizes, Tensors
from grader.cases.drawing import (
    as_weights,
    attention_weights,
    extended_mask,
    hidden_states,
    mask,
)

FALSE_ALARM = 1e-9  # chance that a right dropout is called wrong; the draws are many, so it is free
PATTERN = Sizes(B=8, T=12, H=2, d=13, lengths=(12, 11, 9, 12, 7, 10, 12, 8))


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw what the call takes; scores are spread, so that softmax is far from uniform."""
    sizes = call.sizes
    B, T, H, d = sizes.B, sizes.T, sizes.H, sizes.d
    if call.target == "BertSelfAttention.forward":
        return {
            "hidden_states": hidden_states(rng, sizes),
            "attention_mask": extended_mask(sizes),
            "cotangent/output": rng.standard_normal((B, T, sizes.D)),
            **as_weights(attention_weights(rng, sizes)),
        }
    inputs = {name: rng.standard_normal((B, H, T, d)) for name in ("key", "query", "value")}
    if call.inputs == "pattern":
        # (T, T + 1): the identity shows each probability, the column of ones their sum
        inputs["value"][:] = np.concatenate([np.eye(T), np.ones((T, 1))], axis=1)
    inputs["attention_mask"] = extended_mask(sizes)
    inputs["cotangent/output"] = rng.standard_normal((B, T, sizes.D))
    return inputs


def examine_dropout(outputs: Tensors, inputs: Tensors) -> str | None:
    """Judge one training pass with rate 1/2, whose values show the probabilities themselves.

    With the values of `pattern`, a head's output holds the dropped probabilities and, in its last
    unit, their sum: dropout on the context would drop the sum by itself.
    """
    B, H, T, d = inputs["value"].shape
    heads = outputs["output"].astype(np.float64).reshape(B, T, H, d).transpose(0, 2, 1, 3)
    probs, sums = heads[..., :T], heads[..., T]
    if np.abs(probs.sum(-1) - sums).max() > 1e-3:
        return "dropout is not on the attention probabilities but on what comes after them"
    seen = np.broadcast_to((mask(PATTERN) > 0)[:, None, None, :], probs.shape)
    kept = (probs[seen] != 0).mean()
    # Hoeffding: P(|kept - 1/2| > t) <= 2 exp(-2 n t^2)
    allowed = np.sqrt(np.log(2 / FALSE_ALARM) / (2 * seen.sum()))
    if abs(kept - 0.5) > allowed:
        return f"with a dropout rate of 0.5, {1 - kept:.2f} of the probabilities are dropped"
    return None


ALONE = ("key", "query", "value", "attention_mask")
TARGET = "BertSelfAttention.attention"

EXERCISE = Exercise(
    id="attention",
    order=1,
    title="scaled dot-product attention",
    points={"values": 15, "training": 5, "properties": 5},
    upstream=(),
    draw=draw,
    probes=(
        Probe(
            "output",
            "values",
            "attention gives a wrong output",
            (Call(TARGET, ALONE, gradients=True),),
        ),
        Probe(
            "in place",
            "values",
            "attention is right alone and wrong within BertSelfAttention.forward",
            (
                Call(
                    "BertSelfAttention.forward",
                    ("hidden_states", "attention_mask"),
                    inputs="in place",
                    gradients=True,
                ),
            ),
        ),
        Probe(
            "other sizes",
            "properties",
            "attention is wrong for other sizes or in float64",
            (Call(TARGET, ALONE, inputs="other", sizes=OTHER_SIZES, dtype="float64"),),
        ),
        Probe(
            "no dropout",
            "training",
            "with a dropout rate of 0, training should give what eval gives",
            (Call(TARGET, ALONE, train=True, dropout=0.0),),
        ),
        Probe(
            "all dropped",
            "training",
            "no dropout on the attention probabilities in training",
            (Call(TARGET, ALONE, train=True, dropout=1.0),),
        ),
        Probe(
            "dropout pattern",
            "training",
            "dropout in training is not where it should be",
            (Call(TARGET, ALONE, inputs="pattern", sizes=PATTERN, train=True, dropout=0.5),),
            examine=examine_dropout,
        ),
    ),
)
