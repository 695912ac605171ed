"""One encoder layer, with stand-ins for attention and add_norm, and with the student's own.

Dimension key: B batch, T tokens, D model width.
"""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from grader import probes
from grader.inputs import extended_mask, hidden_states, layer_weights
from grader.model import AROUND, LONG, BertCall, Sizes
from tensormark.exercise import SECOND_CALL, Exercise, Tensors
from tensormark.toolkit.draws import as_weights, identity_norm
from tensormark.toolkit.dropout import ANCHORS, RATE, Dropout, anchored, neighbours, numbers, undone

PATTERN = Sizes(B=8, T=8, H=2, d=11, lengths=(8,) * 8)
# how many values may be dropped
DROPOUT_CANDIDATES = PATTERN.B * PATTERN.T * (PATTERN.D - len(ANCHORS))
UNCHANGED_BY_GELU = 10.0  # up to rounding


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw hidden states, the additive mask and a layer's weights."""
    sizes = call.sizes
    weights = layer_weights(rng, sizes)
    if call.inputs.startswith("after"):
        return pattern(rng, call) | as_weights(weights | pattern_weights(call))
    inputs = {"hidden_states": hidden_states(rng, sizes), "attention_mask": extended_mask(sizes)}
    if call.inputs == "padding around":
        inputs["attention_mask"] = np.roll(inputs["attention_mask"], 1, axis=-1)
    if call.inputs == SECOND_CALL:
        inputs |= {
            f"before/{name}": np.flip(value, axis=0).copy() for name, value in inputs.items()
        }
    inputs["cotangent/output"] = rng.standard_normal((sizes.B, sizes.T, sizes.D))
    return inputs | as_weights(weights)


def pattern(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw a residual that reveals which of the values added to it were dropped."""
    sizes = call.sizes
    shape = (sizes.B, sizes.T, sizes.D)
    return {"hidden_states": anchored(rng, shape), "attention_mask": extended_mask(sizes)}


def pattern_weights(call: BertCall) -> Tensors:
    """Return weights with which one sublayer adds ones to its residual, and the other nothing."""
    D, F = call.sizes.D, call.sizes.F
    after_attention = call.inputs == "after attention"
    return {
        "self_attention.value.weight": np.zeros((D, D)),
        "self_attention.value.bias": np.ones(D),
        "attention_dense.weight": neighbours(D, D) * after_attention,
        "attention_dense.bias": np.zeros(D),
        "interm_dense.weight": np.zeros((F, D)),
        "interm_dense.bias": np.full(F, UNCHANGED_BY_GELU),
        "out_dense.weight": neighbours(D, F) / UNCHANGED_BY_GELU * (not after_attention),
        "out_dense.bias": np.zeros(D),
        **identity_norm("attention_layer_norm", D),
        **identity_norm("out_layer_norm", D),
    }


def dropped(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Return what was added to the input: 0 where it was dropped."""
    return undone(outputs["output"], inputs["hidden_states"])


def measure(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Compute the statistics `kept`, `factor`, `broken` and `zero` of dropout.py."""
    return numbers(dropped(outputs, inputs))


# BertSelfAttention.forward is given code; its stand-in makes changes to it cost attention only.
ATTENTION_STAND_INS = {
    "self_attention.attention": "attention",
    "self_attention.forward": "self_attention",
}
STAND_INS_OF_ONES = {"self_attention.attention": "ones_of_heads", "self_attention.forward": "ones"}
ADD_NORM_STAND_INS = {"add_norm": "add_norm"}
# The stand-in for add_norm uses the rate of the dropout module that it gets, so that the wrong
# module is noticed even in eval mode.
DROPOUT_RATES = {"attention_dropout": 0.25, "out_dropout": 0.75}


forward = functools.partial(
    BertCall,
    "BertLayer.forward",
    ("hidden_states", "attention_mask"),
    form="tuple",
    taken_by="BertModel.encode",  # which is free to unpack it
)


def stand_in_levels(
    attention: Mapping[str, str],
) -> tuple[tuple[tuple[str, ...], Mapping[str, str]], ...]:
    """Return, for each call, the exercises whose functions are replaced, and their stand-ins."""
    both = {**attention, **ADD_NORM_STAND_INS}
    return ((), {}), (("attention",), attention), (("attention", "add_norm"), both)


def calls(
    inputs: str = "main", train: bool = False, undropped: str | None = None, **more: Any
) -> tuple[BertCall, ...]:
    """Return a call with the student's functions, with a stand-in for attention, and for both.

    Args:
        undropped: the dropout module whose rate is 0 whatever `dropout` says.
    """
    base_rates = {undropped: 0.0} if undropped else {}
    return tuple(
        forward(inputs=inputs, given=given, stand_ins=stand_ins, rates=rates, train=train, **more)
        for (given, stand_ins), rates in zip(
            stand_in_levels(ATTENTION_STAND_INS),
            (base_rates, base_rates, base_rates if train else DROPOUT_RATES),
            strict=True,
        )
    )


def dropout_of(place: str) -> Dropout:
    """Return what judges which values of a sublayer's output are dropped."""
    return Dropout(place, RATE, DROPOUT_CANDIDATES, measure, dropped)


def pattern_calls(inputs: str) -> tuple[BertCall, ...]:
    """Return the calls that show a dropout pattern; attention itself drops nothing in them."""
    pattern_call = functools.partial(
        forward, inputs=inputs, sizes=PATTERN, train=True, twice=True, dropout=RATE
    )
    return tuple(
        pattern_call(
            given=given,
            stand_ins=stand_ins,
            rates={} if given else {"self_attention.dropout": 0.0},
            deterministic="add_norm" in given,  # its stand-in draws nothing
        )
        for given, stand_ins in stand_in_levels(STAND_INS_OF_ONES)
    )


EXERCISE = Exercise(
    id="layer",
    order=30,
    title="one encoder layer",
    file="bert.py",
    points={"values": 9, "training": 3, "properties": 3},
    upstream=("attention", "add_norm"),
    draw=draw,
    probes=(
        probes.values("output", "the layer gives a wrong output", *calls(gradients=True)),
        probes.other_sizes("the layer", *calls("other", sizes=LONG, dtype="float64")),
        probes.second_call(*calls(SECOND_CALL)),
        probes.padding_around("the layer", *calls("padding around", sizes=AROUND)),
        probes.no_dropout(*calls(train=True, dropout=0.0)),
        probes.misplaced_dropout(
            "all dropped", *calls(train=True, dropout=1.0, undropped="out_dropout")
        ),
        probes.misplaced_dropout(
            "all dropped, second", *calls(train=True, dropout=1.0, undropped="attention_dropout")
        ),
        probes.misplaced_dropout(
            "dropout after attention",
            *pattern_calls("after attention"),
            examine=dropout_of("attention's projected output"),
        ),
        probes.misplaced_dropout(
            "dropout after the feed-forward part",
            *pattern_calls("after the feed-forward part"),
            examine=dropout_of("the feed-forward part's projected output"),
        ),
    ),
)
