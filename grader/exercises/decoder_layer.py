"""One layer of the decoder, in both orders of norm.

Dimension key: B batch, T tokens of the target, S of the source, D model width.
"""

import numpy as np

from grader.inputs import MASKED, attention_weights, extended_mask, mask
from grader.model import MAIN, OTHER
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.draws import as_weights, dense, norm
from tensormark.toolkit.probes import all_dropped, no_dropout, other_sizes

SOURCE = 2  # tokens that the source has more than the target


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
    return {
        "states": rng.standard_normal((B, T, D)),
        "encoded": rng.standard_normal((B, T + SOURCE, D)),
        "self_mask": np.where(allowed > 0, 0.0, MASKED),
        "cross_mask": extended_mask(source),
        "cotangent/output": rng.standard_normal((B, T, D)) * mask(sizes)[..., None],
        **as_weights(weights),
    }


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
    ),
)
