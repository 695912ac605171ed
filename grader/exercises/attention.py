"""Attention: scaled dot-product attention over heads, with mask and dropout.

Dimension key: B batch, T tokens, D model width, H heads, d head width.
"""

import numpy as np

from grader.inputs import attention_weights, earlier, extended_mask, hidden_states, mask
from grader.model import AROUND, LONG, MAIN
from grader.probes import dropout_pattern, padding_around
from tensormark.exercise import SECOND_CALL
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.draws import as_weights
from tensormark.toolkit.dropout import EXACT, SHARED, numbers
from tensormark.toolkit.probes import all_dropped, no_dropout, other_sizes, output, second_call

# a head is one unit wider than there are tokens, for the sum; no row is so short that all of it
# would be dropped now and then
LENGTHS = (16, 15, 13, 16, 14, 12, 16, 15)
PATTERN = MAIN | {"B": 8, "T": 16, "d": 17, "D": 34, "lengths": LENGTHS}


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw the inputs; the scores are spread out, so that the softmax is far from uniform."""
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
        # equal scores: a probability is 1 / length
        inputs["key"][:] = 0.0
        # (T, T + 1): the identity shows each probability, the column of ones their sum
        inputs["value"][:] = np.concatenate([np.eye(T), np.ones((T, 1))], axis=1)
    inputs["attention_mask"] = extended_mask(sizes)
    if call.inputs == "padding around":
        inputs["attention_mask"] = np.roll(inputs["attention_mask"], 1, axis=-1)
    if call.inputs == SECOND_CALL:
        inputs |= earlier(inputs)
    inputs["cotangent/output"] = rng.standard_normal((B, T, sizes.D))
    return inputs


def heads_of(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Return the heads of the output: (B, H, T, d), where d is T + 1."""
    B, H, T, d = inputs["value"].shape
    heads: np.ndarray = outputs["output"].astype(np.float64).reshape(B, T, H, d)
    return heads.transpose(0, 2, 1, 3)


def dropped(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Return the probabilities of tokens, times their number: 0 where they were dropped."""
    probs = heads_of(outputs, inputs)[..., :-1]  # (B, H, T, T)
    shares: np.ndarray = probs * mask(PATTERN).sum(1)[:, None, None, None]
    return shares.transpose(0, 3, 1, 2)[mask(PATTERN) > 0]


def measure(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Compute the statistics `kept`, `factor`, `broken` and `zero` of dropout.py.

    With the values of `pattern`, a head's output holds the dropped probabilities and, in its last
    unit, their sum: dropout on the context would drop the sum separately.
    """
    heads = heads_of(outputs, inputs)
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

EXERCISE = exercise(
    "BertSelfAttention.attention",
    ALONE,
    draw,
    sizes=MAIN,
    id="attention",
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
            "attention is right alone, but wrong within BertSelfAttention.forward",
            target="BertSelfAttention.forward",
            args=("hidden_states", "attention_mask"),
            inputs="in place",
            gradients=True,
        ),
        other_sizes("attention", LONG),
        second_call(),
        padding_around("attention", AROUND),
        no_dropout(),
        all_dropped(),
        *dropout_pattern(
            "the attention probabilities", PATTERN, DROPOUT_CANDIDATES, measure, dropped
        ),
    ),
)
