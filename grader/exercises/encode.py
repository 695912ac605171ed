"""The stack of layers: with stand-ins for the layers, with the student's own, and in the whole
model on the frozen checkpoint.

Dimension key: B batch, T tokens, D model width.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from grader.inputs import earlier, hidden_states, mask, model_weights, token_ids
from grader.model import LONG, MAIN, BertSizes
from grader.probes import many_rows, one_token, own_gradients, padding_around
from tensormark.exercise import SECOND_CALL
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.draws import as_weights
from tensormark.toolkit.probes import Given, all_dropped, no_dropout, other_sizes, output, stood_in

ALONE = ("hidden_states", "attention_mask")
CORE = ("attention", "add_norm", "layer", "embed")
EMBED = {"embed": "embed"}
LAYER = {"bert_layers.*.forward": "layer"}
ATTENTION = {
    "bert_layers.*.self_attention.attention": "attention",
    "bert_layers.*.self_attention.forward": "self_attention",
}
ADD_NORM = {"bert_layers.*.add_norm": "add_norm"}
# Attention and add_norm have stand-ins for a layer that is written out in encode, where the layer's
# own function is not called.
GIVEN: Given = {"attention": ATTENTION, "add_norm": ADD_NORM, ("layer", "embed"): LAYER}
GIVEN_TO_WHOLE: Given = {
    ("attention", "embed"): ATTENTION | EMBED,
    "add_norm": ADD_NORM,
    "layer": LAYER,
}
REAL = BertSizes(B=3, T=13, lengths=(13, 8, 1))
VOCABULARY = 200  # the checkpoint's may be of any size; the first ids are there in every one


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw hidden states (or ids for the whole model), the 1/0 mask and a model's weights."""
    sizes = call.sizes
    inputs: Tensors = {"attention_mask": mask(sizes)}
    if call.inputs == SECOND_CALL:
        inputs["attention_mask"] = np.roll(inputs["attention_mask"], 1, axis=-1)
    if call.inputs == "token types":
        inputs["token_type_ids"] = rng.integers(0, 2, (sizes.B, sizes.T))
    if call.target == "BertModel.forward":
        inputs["input_ids"] = token_ids(rng, sizes, VOCABULARY if call.checkpoint else sizes.V)
    else:
        inputs["hidden_states"] = hidden_states(rng, sizes)
    if call.inputs == SECOND_CALL:
        inputs |= earlier(inputs)
    if not call.checkpoint:
        shape = (sizes.B, sizes.T, sizes.D)
        inputs["cotangent/output"] = rng.standard_normal(shape)
        # none for padding: its word embedding may or may not have a gradient
        inputs["cotangent/last_hidden_state"] = rng.standard_normal(shape) * mask(sizes)[..., None]
        inputs["cotangent/pooler_output"] = rng.standard_normal((sizes.B, sizes.D))
        inputs |= as_weights(model_weights(rng, sizes))
    return inputs


WHOLE = ("input_ids", "attention_mask")


def whole(call: Call) -> tuple[Call, ...]:
    """Return the call of the whole model with the student's own functions, then with stand-ins."""
    return stood_in(call, GIVEN_TO_WHOLE)


def with_layers(call: Call) -> tuple[Call, ...]:
    """Return the call of the student's own functions, then with stand-ins for all layers."""
    return stood_in(call, {CORE: LAYER})


def given_all(call: Call) -> tuple[Call]:
    """Return the call of the whole model with stand-ins for all functions."""
    return (replace(call, given=CORE, stand_ins={**EMBED, "encode": "encode"}),)


OF_WHOLE: dict[str, Any] = {
    "target": "BertModel.forward",
    "args": WHOLE,
    "returns": ("last_hidden_state", "pooler_output"),
    "form": "dict",
}

EXERCISE = exercise(
    "BertModel.encode",
    ALONE,
    draw,
    sizes=MAIN,
    given=GIVEN,
    order=50,
    title="the stack of layers",
    file="bert.py",
    points={"values": 6, "training": 2, "properties": 2},
    upstream=CORE,
    call={"constants": ("attention_mask",)},
    probes=(
        output("encode"),
        other_sizes("encode", LONG),
        many_rows("encode"),
        one_token("encode", calls=with_layers),
        padding_around("encode"),
        probe(
            "token types",
            "properties",
            "BertModel.forward gives wrong outputs where token types are given",
            inputs="token types",
            calls=given_all,
            optional=("token_type_ids",),
            **OF_WHOLE | {"args": (*WHOLE, "token_type_ids")},
        ),
        no_dropout(inputs="whole", calls=whole, **OF_WHOLE),
        all_dropped(calls=own_gradients(GIVEN)),
        all_dropped(name="all dropped, whole model", inputs="whole", calls=whole, **OF_WHOLE),
        probe(
            "whole model",
            "values",
            "BertModel.forward gives wrong outputs",
            inputs="whole",
            calls=whole,
            gradients=True,
            **OF_WHOLE,
        ),
        probe(
            "checkpoint",
            "values",
            "the model gives wrong outputs on the frozen checkpoint",
            sizes=REAL,
            inputs="checkpoint",
            calls=whole,
            checkpoint=True,
            **OF_WHOLE,
        ),
    ),
)
