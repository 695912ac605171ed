"""Attention: scaled dot-product attention over heads, with mask and dropout.

Dimension key: B batch, T tokens, D model width, H heads, d head width.
"""

from typing import Any

import numpy as np

from grader.inputs import attention_weights, earlier, extended_mask, hidden_states, mask
from grader.model import LONG, MAIN
from grader.probes import dropout_pattern, many_rows, one_token, padding_around
from tensormark.exercise import SECOND_CALL
from tensormark.toolkit import Call, Sizes, Tensors, exercise, probe
from tensormark.toolkit.draws import as_weights
from tensormark.toolkit.dropout import EXACT, RATE, SHARED, numbers
from tensormark.toolkit.probes import all_dropped, no_dropout, other_sizes, output

# a head is one unit wider than there are tokens, for the sum; no row is so short that all of it
# would be dropped now and then
LENGTHS = (16, 15, 13, 16, 14, 12, 16, 15)
PATTERN = MAIN | {
    "B": 8, "T": 16, "d": 17, "D": 34, "lengths": LENGTHS, "dropout": 0.0, "attention_dropout": RATE
}  # fmt: skip
LARGE = 6.0  # makes scores of 23; those of the shipped checkpoint reach 17
HIGH = 56.0  # of other models: no score up to 1.5 times this may be clamped; e**88 fits float32
LOW = -120.0  # a mask that replaces scores must be far below these, too


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw the inputs; the scores are spread out, so that the softmax is far from uniform."""
    sizes = call.sizes
    B, T, H, d = sizes.B, sizes.T, sizes.H, sizes.d
    if call.inputs == "pattern":
        return pattern(rng, sizes)
    if call.target == "BertSelfAttention.forward":
        return {
            "hidden_states": hidden_states(rng, sizes),
            "attention_mask": extended_mask(sizes),
            "cotangent/output": rng.standard_normal((B, T, sizes.D)),
            **as_weights(attention_weights(rng, sizes)),
        }
    inputs = {name: rng.standard_normal((B, H, T, d)) for name in ("key", "query", "value")}
    inputs["attention_mask"] = extended_mask(sizes)
    if call.inputs == "large":
        inputs["query"] *= LARGE
        inputs["key"] *= np.where(mask(sizes) > 0, 1.0, 3.0)[:, None, :, None]
        length = sizes.lengths[0]
        inputs["key"][0, :, :length, 0] = 1.0
        inputs["query"][0, :, 0] = LOW * np.sqrt(d) * np.eye(d)[0]  # all its scores are LOW
        inputs["key"][0, :, :length, 1] = np.linspace(1.0, 1.5, length)
        inputs["query"][0, :, 1] = HIGH * np.sqrt(d) * np.eye(d)[1]
    if call.inputs == SECOND_CALL:
        inputs["attention_mask"] = np.roll(inputs["attention_mask"], 1, axis=-1)
        inputs |= earlier(inputs)
    inputs["cotangent/output"] = rng.standard_normal((B, T, sizes.D))
    return inputs


def pattern(rng: np.random.Generator, sizes: Sizes) -> Tensors:
    """Return inputs that show in the output of each head what was dropped.

    A key is a unit vector, and all units of a query are equal. So all scores are equal, and a
    probability is 1 / length, unless keys or queries are dropped. Values (T, T + 1) are the
    identity, which shows each probability, and a column of ones, which shows their sum.
    """
    B, T, H, d = sizes.B, sizes.T, sizes.H, sizes.d
    identity = np.eye(d, sizes.D)  # of a head's units, from those that number the tokens
    last = np.eye(d)[T]
    zeros = np.zeros((H * d, sizes.D))
    return {
        "hidden_states": np.tile(np.eye(T, sizes.D), (B, 1, 1)),
        "attention_mask": extended_mask(sizes),
        **as_weights(
            {
                "key.weight": np.tile(identity, (H, 1)),
                "key.bias": np.zeros(H * d),
                "query.weight": zeros,
                "query.bias": np.full(H * d, rng.uniform(1.0, 2.0)),
                "value.weight": np.tile(identity, (H, 1)),
                "value.bias": np.tile(last, H),
            }
        ),
    }


def heads_of(outputs: Tensors) -> np.ndarray:
    """Return the heads of the output: (B, H, T, d), where d is T + 1."""
    B, T, H, d = PATTERN.B, PATTERN.T, PATTERN.H, PATTERN.d
    heads: np.ndarray = outputs["output"].astype(np.float64).reshape(B, T, H, d)
    return heads.transpose(0, 2, 1, 3)


def dropped(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Return the probabilities of tokens, times their number: 0 where they were dropped."""
    probs = heads_of(outputs)[..., :-1]  # (B, H, T, T)
    shares: np.ndarray = probs * mask(PATTERN).sum(1)[:, None, None, None]
    return shares.transpose(0, 3, 1, 2)[mask(PATTERN) > 0]


def measure(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Compute the statistics `kept`, `factor`, `broken` and `zero` of dropout.py.

    With the inputs of `pattern`, a head's output holds the dropped probabilities and, in its last
    unit, their sum: dropout on the context would drop the sum separately.
    """
    heads = heads_of(outputs)
    probs = heads[..., :-1]  # (B, H, T, T)
    sums = heads[..., -1]  # (B, H, T)
    seen = mask(PATTERN) > 0  # (B, T)
    shares = probs * seen.sum(1)[:, None, None, None]
    statistics = numbers(shares, counts=np.broadcast_to(seen[:, None, None, :], probs.shape))
    if statistics[2] < SHARED:
        statistics[2] = (np.abs(probs.sum(-1) - sums) > EXACT).mean()
    statistics[3] = (np.abs(sums) < EXACT).mean()
    return statistics


# how many probabilities may be dropped
DROPOUT_CANDIDATES = int(mask(PATTERN).sum()) * PATTERN.H * PATTERN.T
ALONE = ("key", "query", "value", "attention_mask")
IN_PLACE: dict[str, Any] = {
    "target": "BertSelfAttention.forward",
    "args": ("hidden_states", "attention_mask"),
}

EXERCISE = exercise(
    "BertSelfAttention.attention",
    ALONE,
    draw,
    sizes=MAIN,
    order=10,
    title="scaled dot-product attention",
    file="bert.py",
    points={"values": 15, "training": 5, "properties": 5},
    call={"constants": ("attention_mask",)},
    probes=(
        output("attention"),
        probe(
            "in place",
            "values",
            "attention gives a wrong output within BertSelfAttention.forward",
            inputs="in place",
            gradients=True,
            **IN_PLACE,
        ),
        probe(
            "large scores",
            "properties",
            "attention is wrong where scores are large, or where a row is only padding",
            inputs="large",
            sizes=MAIN | {"lengths": (4, 0, 7)},
            kind="row of padding",
        ),
        other_sizes("attention", LONG),
        many_rows("attention"),
        one_token("attention"),
        padding_around("attention"),
        no_dropout(),
        all_dropped(gradients=True),
        dropout_pattern(
            "the attention probabilities", PATTERN, DROPOUT_CANDIDATES, measure, dropped, **IN_PLACE
        ),
    ),
)
