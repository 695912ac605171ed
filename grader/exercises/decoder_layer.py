"""One layer of the decoder, in both orders of norm.

Dimension key: B batch, T tokens of the target, S of the source, D model width.
"""

import numpy as np

from grader.inputs import MASKED, attention_weights, extended_mask, mask
from grader.model import MAIN, OTHER
from grader.probes import DROPOUT_CANDIDATES, RESIDUAL, counting, misplaced_dropout
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.draws import as_weights, dense, norm
from tensormark.toolkit.dropout import ANCHORS, RATE, Dropout, neighbours
from tensormark.toolkit.probes import all_dropped, no_dropout, other_sizes

SOURCE = 2  # tokens that the source has more than the target
PATTERN = "pattern"


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw states, the encoder's output, both masks and the weights of a layer."""
    sizes = call.sizes
    B, T, D = sizes.B, sizes.T, sizes.D
    source = sizes | {"T": T + SOURCE, "lengths": tuple(reversed(sizes.lengths))}
    allowed = np.tril(np.ones((T, T))) * mask(sizes)[:, None, None, :]
    weights = {
        **attention_weights(rng, sizes, "self_attention."),
        **dense(rng, "self_attention.dense", D, D),
        **norm(rng, "self_norm", D),
        **attention_weights(rng, sizes, "cross_attention."),
        **dense(rng, "cross_attention.dense", D, D),
        **norm(rng, "cross_norm", D),
        **dense(rng, "wide", D, sizes.F),
        **dense(rng, "narrow", sizes.F, D),
        **norm(rng, "feed_norm", D),
    }
    if call.inputs == PATTERN:
        weights |= pattern_weights(D, sizes.F)
    return {
        "states": rng.standard_normal((B, T, D)),
        "encoded": rng.standard_normal((B, T + SOURCE, D)),
        "self_mask": np.where(allowed > 0, 0.0, MASKED),
        "cross_mask": extended_mask(source),
        "cotangent/output": rng.standard_normal((B, T, D)) * mask(sizes)[..., None],
        **as_weights(weights),
    }


def pattern_weights(D: int, F: int) -> Tensors:
    """Return weights with which each sublayer, after its norm, adds ones to a third of the units.

    With the stand-in for attention; each of those ones is a mean, in which dropout on what came
    before shows, too.
    """
    weights: Tensors = {}
    means = np.full((D, D), 1 / D)
    thirds = [(np.arange(D) % 3 == third)[:, None] for third in range(3)]
    for part, third in zip(("self", "cross"), thirds, strict=False):
        weights |= {
            f"{part}_attention.query.weight": means * np.pi / 2,  # its sine is 1
            f"{part}_attention.query.bias": np.zeros(D),
            f"{part}_attention.value.weight": np.zeros((D, D)),
            f"{part}_attention.value.bias": np.zeros(D),
            f"{part}_attention.dense.weight": neighbours(D, D) * third,
            f"{part}_attention.dense.bias": np.zeros(D),
        }
    for part in ("self", "cross", "feed"):
        weights |= {f"{part}_norm.weight": np.zeros(D), f"{part}_norm.bias": np.ones(D)}
    return weights | {
        "wide.weight": np.full((F, D), 1 / D),
        "wide.bias": np.zeros(F),
        "narrow.weight": neighbours(D, F) * thirds[2],
        "narrow.bias": np.zeros(D),
    }


def added(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Return what was added to the states in pre-norm order, without the anchors."""
    return (outputs["output"] - inputs["states"])[..., len(ANCHORS) :]


# The given MultiHeadAttention calls the student's `attention`, whose mistakes cost nothing here.
ATTENTION = {f"{part}_attention.forward": "decoder_attention" for part in ("self", "cross")}
PRE_NORM = {"pre_norm": True}

EXERCISE = exercise(
    "DecoderLayer.forward",
    ("states", "encoded", "self_mask", "cross_mask"),
    draw,
    sizes=MAIN,
    id="decoder_layer",
    order=320,
    title="one decoder layer",
    points={"values": 6, "training": 2, "properties": 2},
    file="transformer.py",
    extension=True,
    call={"stand_ins": ATTENTION, "constants": ("self_mask", "cross_mask")},
    probes=(
        probe("post-norm", "values", "the decoder layer gives a wrong output", gradients=True),
        probe(
            "pre-norm",
            "values",
            "the decoder layer is right in post-norm order, but wrong in pre-norm order",
            options=PRE_NORM,
            gradients=True,
        ),
        other_sizes("the decoder layer", OTHER),
        no_dropout(),
        all_dropped(),
        all_dropped(name="all dropped in pre-norm", options=PRE_NORM),
        misplaced_dropout(
            "dropout pattern",
            Dropout("a sublayer's output", RATE, DROPOUT_CANDIDATES, counting(added), added),
            inputs=PATTERN,
            sizes=RESIDUAL,
            options=PRE_NORM,
        ),
    ),
)
