"""Add-and-norm: project, dropout, residual, LayerNorm, with the modules passed in.

Dimension key: B batch, T tokens, D model width, F feed-forward width.
"""

import numpy as np

from grader.inputs import layer_weights
from grader.model import LONG, MAIN, ONE_TOKEN
from grader.probes import (
    DROPOUT_CANDIDATES,
    RESIDUAL,
    added_to,
    counting,
    dropout_pattern,
    many_rows,
    small_numbers,
)
from tensormark.exercise import SECOND_CALL
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.draws import as_weights, identity_norm
from tensormark.toolkit.dropout import anchored, neighbours
from tensormark.toolkit.probes import all_dropped, no_dropout, other_sizes, second_call

QUIET = 1e-5  # scale of the rows on which a wrong epsilon of LayerNorm shows
DROPPED = added_to("input")


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw the input and output of a sublayer; the width depends on the sublayer."""
    sizes = call.sizes
    width = sizes.F if ".out_dense" in call.args else sizes.D
    weights = layer_weights(rng, sizes)
    inputs = {
        "input": rng.standard_normal((sizes.B, sizes.T, sizes.D)),
        "output": rng.standard_normal((sizes.B, sizes.T, width)),
        "cotangent/output": rng.standard_normal((sizes.B, sizes.T, sizes.D)),
    }
    if call.inputs == "quiet":
        # a dense layer near zero and a small residual: the variance is near LayerNorm's epsilon
        weights = {
            name: QUIET * value if "_dense" in name else value for name, value in weights.items()
        }
        inputs["input"] *= QUIET
    if call.inputs == SECOND_CALL:
        inputs |= {
            "before/input": rng.standard_normal((sizes.B, sizes.T, sizes.D)),
            "before/output": rng.standard_normal((sizes.B, sizes.T, sizes.D)),
        }
    if call.inputs == "pattern":
        # a projection of ones, so that what is added to the residual shows what was dropped
        inputs["input"] = anchored(rng, inputs["input"].shape)
        inputs["output"][:] = 1.0
        weights["attention_dense.weight"] = neighbours(sizes.D, width)
        weights["attention_dense.bias"][:] = 0.0
        weights |= identity_norm("attention_layer_norm", sizes.D)
    return inputs | as_weights(weights)


MODULES = ("dense", "dropout", "layer_norm")
FIRST = ("input", "output", *(f".attention_{part}" for part in MODULES))
SECOND = ("input", "output", *(f".out_{part}" for part in MODULES))

EXERCISE = exercise(
    "BertLayer.add_norm",
    FIRST,
    draw,
    sizes=MAIN,
    order=20,
    title="add and norm",
    file="bert.py",
    points={"values": 6, "training": 2, "properties": 2},
    call={"constants": ("attention_mask",)},
    probes=(
        probe("first", "values", "add_norm gives a wrong output", inputs="first", gradients=True),
        probe(
            "second",
            "values",
            "add_norm gives a wrong output with the modules of the feed-forward part",
            args=SECOND,
            inputs="second",
            gradients=True,
        ),
        small_numbers("add_norm"),
        small_numbers("add_norm", "small numbers, second", args=SECOND, sizes=MAIN | ONE_TOKEN),
        other_sizes("add_norm", LONG, args=SECOND),
        many_rows("add_norm", args=FIRST),
        second_call(args=SECOND, before=FIRST),
        no_dropout(inputs="first"),
        all_dropped(args=SECOND, inputs="second", rates={"attention_dropout": 0.0}, gradients=True),
        all_dropped(name="all dropped, first", inputs="first", rates={"out_dropout": 0.0}),
        dropout_pattern(
            "the projected output", RESIDUAL, DROPOUT_CANDIDATES, counting(DROPPED), DROPPED
        ),
    ),
)
