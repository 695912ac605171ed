"""One encoder layer, with stand-ins for attention and add_norm, and with the student's own.

Dimension key: B batch, T tokens, D model width.
"""

from dataclasses import replace

import numpy as np

from grader.inputs import earlier, extended_mask, hidden_states, layer_weights
from grader.model import LONG, MAIN
from grader.probes import (
    DROPOUT_CANDIDATES,
    RESIDUAL,
    added_to,
    counting,
    many_rows,
    misplaced_dropout,
    own_gradients,
    padding_around,
)
from tensormark.exercise import SECOND_CALL
from tensormark.toolkit import Call, Tensors, exercise
from tensormark.toolkit.draws import as_weights, identity_norm
from tensormark.toolkit.dropout import RATE, Dropout, anchored, neighbours
from tensormark.toolkit.probes import (
    Case,
    Given,
    all_dropped,
    no_dropout,
    other_sizes,
    output,
    stood_in,
)

DROPPED = added_to("hidden_states")
UNCHANGED_BY_GELU = 10.0  # up to rounding


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw hidden states, the additive mask and a layer's weights."""
    sizes = call.sizes
    weights = layer_weights(rng, sizes)
    if call.inputs.startswith("after"):
        return pattern(rng, call) | as_weights(weights | pattern_weights(call))
    inputs = {"hidden_states": hidden_states(rng, sizes), "attention_mask": extended_mask(sizes)}
    if call.inputs == SECOND_CALL:
        inputs["attention_mask"] = np.roll(inputs["attention_mask"], 1, axis=-1)
        inputs |= earlier(inputs)
    inputs["cotangent/output"] = rng.standard_normal((sizes.B, sizes.T, sizes.D))
    return inputs | as_weights(weights)


def pattern(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw a residual that reveals which of the values added to it were dropped."""
    sizes = call.sizes
    shape = (sizes.B, sizes.T, sizes.D)
    return {"hidden_states": anchored(rng, shape), "attention_mask": extended_mask(sizes)}


def pattern_weights(call: Call) -> Tensors:
    """Return weights with which one sublayer adds ones to its residual, and the other nothing.

    A sublayer reads the sum of its input, which is 0 unless some of it was dropped.
    """
    D, F = call.sizes.D, call.sizes.F
    after_attention = call.inputs == "after attention"
    return {
        "self_attention.value.weight": np.ones((D, D)),
        "self_attention.value.bias": np.ones(D),
        "attention_dense.weight": neighbours(D, D) * after_attention,
        "attention_dense.bias": np.zeros(D),
        "interm_dense.weight": np.ones((F, D)),
        "interm_dense.bias": np.full(F, UNCHANGED_BY_GELU),
        "out_dense.weight": neighbours(D, F) / UNCHANGED_BY_GELU * (not after_attention),
        "out_dense.bias": np.zeros(D),
        **identity_norm("attention_layer_norm", D),
        **identity_norm("out_layer_norm", D),
    }


# BertSelfAttention.forward is given code; its stand-in makes changes to it cost attention only.
GIVEN: Given = {
    "attention": {
        "self_attention.attention": "attention",
        "self_attention.forward": "self_attention",
    },
    "add_norm": {"add_norm": "add_norm"},
}
GIVEN_ONES: Given = {
    **GIVEN,
    "attention": {"self_attention.attention": "ones_of_heads", "self_attention.forward": "ones"},
}
# The stand-in for add_norm uses the rate of the dropout module that it gets, so that the wrong
# module is noticed even in eval mode.
RATES = {"attention_dropout": 0.25, "out_dropout": 0.75}


def with_ones(call: Call) -> tuple[Call, ...]:
    """Return the calls that show a dropout pattern; attention itself drops nothing in them."""
    own, with_attention, with_both = stood_in(call, GIVEN_ONES)
    return (
        own,
        replace(with_attention, rates={}),
        replace(with_both, rates={}, deterministic=True),  # the stand-in for add_norm draws nothing
    )


def with_rates(call: Call) -> tuple[Call, ...]:
    """Return the calls of a probe in eval mode, in which rates have no effect but that of RATES."""
    *calls, last = stood_in(call, GIVEN)
    return (*calls, replace(last, rates=RATES))


def pattern_after(part: str, place: str) -> Case:
    """Probe which values of a sublayer's output are dropped.

    Args:
        part: "attention" or "the feed-forward part".
        place: what should be dropped, in words.
    """
    return misplaced_dropout(
        f"dropout after {part}",
        Dropout(place, RATE, DROPOUT_CANDIDATES, counting(DROPPED), DROPPED),
        inputs=f"after {part}",
        sizes=RESIDUAL,
        calls=with_ones,
    )


EXERCISE = exercise(
    "BertLayer.forward",
    ("hidden_states", "attention_mask"),
    draw,
    sizes=MAIN,
    given=GIVEN,
    id="layer",
    order=30,
    title="one encoder layer",
    file="bert.py",
    points={"values": 9, "training": 3, "properties": 3},
    call={
        "form": "tuple",
        "taken_by": "BertModel.encode",  # which is free to unpack it
        "constants": ("attention_mask",),
    },
    probes=(
        output("the layer", calls=with_rates),
        other_sizes("the layer", LONG, calls=with_rates),
        many_rows("the layer", calls=with_rates),
        padding_around("the layer", calls=with_rates),
        no_dropout(),
        all_dropped(calls=own_gradients(GIVEN), rates={"out_dropout": 0.0}),
        all_dropped(name="all dropped, second", rates={"attention_dropout": 0.0}),
        pattern_after("attention", "attention's projected output"),
        pattern_after("the feed-forward part", "the feed-forward part's projected output"),
    ),
)
