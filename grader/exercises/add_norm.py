"""Add-and-norm: project, dropout, residual, LayerNorm, with the modules passed in.

Dimension key: B batch, T tokens, D model width, F feed-forward width.
"""

import functools

import numpy as np

from grader import probes
from grader.inputs import layer_weights
from grader.model import LONG, BertCall, Sizes
from tensormark.exercise import SECOND_CALL, Exercise, Tensors
from tensormark.toolkit.draws import as_weights, identity_norm
from tensormark.toolkit.dropout import ANCHORS, anchored, neighbours, numbers, undone

QUIET = 1e-5  # scale of the rows on which a wrong epsilon of LayerNorm shows
PATTERN = Sizes(B=8, T=8, H=2, d=11, lengths=(8,) * 8)
# how many values may be dropped
DROPOUT_CANDIDATES = PATTERN.B * PATTERN.T * (PATTERN.D - len(ANCHORS))


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
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
        inputs["input"], inputs["output"][:] = anchored(rng, inputs["input"].shape), 1.0
        weights["attention_dense.weight"] = neighbours(sizes.D, width)
        weights["attention_dense.bias"][:] = 0.0
        weights |= identity_norm("attention_layer_norm", sizes.D)
    return inputs | as_weights(weights)


def dropped(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Return what was added to the input: 0 where it was dropped."""
    return undone(outputs["output"], inputs["input"])


def measure(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Compute the statistics `kept`, `factor`, `broken` and `zero` of dropout.py."""
    return numbers(dropped(outputs, inputs))


def arguments_of(sublayer: str) -> tuple[str, ...]:
    """Return the arguments with the modules of a sublayer: "attention" or "out"."""
    modules = (f".{sublayer}_{part}" for part in ("dense", "dropout", "layer_norm"))
    return ("input", "output", *modules)


def call_of(sublayer: str) -> functools.partial[BertCall]:
    """Return what makes calls with the modules of a sublayer: "attention" or "out"."""
    return functools.partial(BertCall, "BertLayer.add_norm", arguments_of(sublayer))


first, second = call_of("attention"), call_of("out")

EXERCISE = Exercise(
    id="add_norm",
    order=20,
    title="add and norm",
    file="bert.py",
    points={"values": 6, "training": 2, "properties": 2},
    draw=draw,
    probes=(
        probes.values(
            "first", "add_norm gives a wrong output", first(inputs="first", gradients=True)
        ),
        probes.values(
            "second",
            "add_norm gives a wrong output with the modules of the feed-forward part",
            second(inputs="second", gradients=True),
        ),
        probes.small_numbers("add_norm", first(inputs="quiet", dtype="float64")),
        probes.other_sizes("add_norm", second(inputs="other", sizes=LONG, dtype="float64")),
        probes.second_call(second(inputs=SECOND_CALL, before=arguments_of("attention"))),
        probes.no_dropout(first(inputs="first", train=True, dropout=0.0)),
        probes.misplaced_dropout(
            "all dropped",
            second(inputs="second", train=True, dropout=1.0, rates={"attention_dropout": 0.0}),
        ),
        probes.misplaced_dropout(
            "all dropped, first",
            first(inputs="first", train=True, dropout=1.0, rates={"out_dropout": 0.0}),
        ),
        *probes.dropout_pattern(
            "the projected output",
            functools.partial(first, inputs="pattern", sizes=PATTERN),
            DROPOUT_CANDIDATES,
            measure,
            dropped,
        ),
    ),
)
