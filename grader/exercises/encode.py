"""The stack of layers: with stand-ins for the layers, with the student's own, and in the whole
model on the frozen checkpoint.

Dimension key: B batch, T tokens, D model width.
"""

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from grader import probes
from grader.inputs import hidden_states, mask, model_weights, token_ids
from grader.model import AROUND, LONG, BertCall, Sizes
from tensormark.exercise import SECOND_CALL, Exercise, Tensors
from tensormark.toolkit.draws import as_weights

ALONE = ("hidden_states", "attention_mask")
CORE = ("attention", "add_norm", "layer", "embed")
EMBED = {"embed": "embed"}
LAYER = {"bert_layers.*.forward": "layer"}
ATTENTION = {
    "bert_layers.*.self_attention.attention": "attention",
    "bert_layers.*.self_attention.forward": "self_attention",
}
ADD_NORM = {"bert_layers.*.add_norm": "add_norm"}
# What is given, and by which stand-ins. Those in between are for a layer that is written out in
# encode, where the layer's own function is not called.
LEVELS: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    ((), {}),
    (("attention",), ATTENTION),
    (("attention", "add_norm"), ATTENTION | ADD_NORM),
    (CORE, LAYER),
)
# The checkpoint's vocabulary may be of any size; the first ids are there in every one.
REAL = Sizes(B=3, T=13, V=200, lengths=(13, 8, 1))


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw hidden states (or ids for the whole model), the 1/0 mask and a model's weights."""
    sizes = call.sizes
    inputs: Tensors = {"attention_mask": mask(sizes)}
    if call.inputs == "padding around":
        inputs["attention_mask"] = np.roll(inputs["attention_mask"], 1, axis=-1)
    if call.inputs == "token types":
        inputs["token_type_ids"] = rng.integers(0, 2, (sizes.B, sizes.T))
    if call.target == "BertModel.forward":
        inputs["input_ids"] = token_ids(rng, sizes)
    else:
        inputs["hidden_states"] = hidden_states(rng, sizes)
    if call.inputs == SECOND_CALL:
        inputs |= {f"before/{name}": np.flip(inputs[name], axis=0).copy() for name in ALONE}
    if not call.checkpoint:
        shape = (sizes.B, sizes.T, sizes.D)
        inputs["cotangent/output"] = rng.standard_normal(shape)
        # none for padding: its word embedding may or may not have a gradient
        inputs["cotangent/last_hidden_state"] = rng.standard_normal(shape) * mask(sizes)[..., None]
        inputs["cotangent/pooler_output"] = rng.standard_normal((sizes.B, sizes.D))
        inputs |= as_weights(model_weights(rng, sizes))
    return inputs


def calls(inputs: str = "main", **more: Any) -> tuple[BertCall, ...]:
    """Return the call with the student's own layers, then with stand-ins."""
    return tuple(
        BertCall("BertModel.encode", ALONE, inputs=inputs, given=given, stand_ins=stand_ins, **more)
        for given, stand_ins in LEVELS
    )


WHOLE = ("input_ids", "attention_mask")

BOTH = ("last_hidden_state", "pooler_output")
forward = functools.partial(BertCall, "BertModel.forward", WHOLE, returns=BOTH, form="dict")


def whole(inputs: str, **more: Any) -> tuple[BertCall, ...]:
    """Return the call of the whole model with the student's own functions, then with stand-ins."""
    return tuple(
        forward(
            inputs=inputs,
            given=tuple(dict.fromkeys((*given, "embed"))) if given else (),
            stand_ins=stand_ins | EMBED if given else {},
            **more,
        )
        for given, stand_ins in LEVELS
    )


EXERCISE = Exercise(
    id="encode",
    order=50,
    title="the stack of layers",
    file="bert.py",
    points={"values": 6, "training": 2, "properties": 2},
    upstream=CORE,
    draw=draw,
    probes=(
        probes.values("output", "encode gives a wrong output", *calls(gradients=True)),
        probes.other_sizes("encode", *calls("other", sizes=LONG, dtype="float64")),
        probes.second_call(*calls(SECOND_CALL)),
        probes.padding_around("encode", *calls("padding around", sizes=AROUND)),
        probes.properties(
            "token types",
            "BertModel.forward does not pass the token types on to embed",
            replace(
                forward(inputs="token types", given=CORE, stand_ins={**EMBED, "encode": "encode"}),
                args=(*WHOLE, "token_type_ids"),
                optional=("token_type_ids",),
            ),
        ),
        probes.no_dropout(*calls(train=True, dropout=0.0)),
        probes.misplaced_dropout("all dropped", *calls(train=True, dropout=1.0)),
        probes.values(
            "whole model",
            "BertModel.forward gives wrong outputs although each function is right",
            *whole("whole", gradients=True),
        ),
        probes.values(
            "checkpoint",
            "the model gives wrong outputs on the frozen checkpoint",
            *whole("checkpoint", sizes=REAL, checkpoint=True),
        ),
    ),
)
