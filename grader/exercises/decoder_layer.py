"""One layer of the decoder, in both orders of norm.

Dimension key: B batch, T tokens of the target, S of the source, D model width.
"""

import functools

import numpy as np

from grader import probes
from grader.inputs import MASKED, extended_mask, mask
from grader.model import OTHER_SIZES, BertCall, Sizes
from tensormark.exercise import Exercise, Tensors
from tensormark.toolkit.draws import as_weights, dense, norm

SOURCE = 2  # tokens that the source has more than the target


def attention_weights(rng: np.random.Generator, name: str, D: int) -> Tensors:
    """Draw the weights of a MultiHeadAttention."""
    weights: Tensors = {}
    for part in ("query", "key", "value", "dense"):
        weights |= dense(rng, f"{name}.{part}", D, D)
    return weights


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw states, the encoder's output, both masks and the weights of a layer."""
    sizes = call.sizes
    B, T, D = sizes.B, sizes.T, sizes.D
    source = Sizes(B=B, T=T + SOURCE, lengths=tuple(reversed(sizes.lengths)))
    allowed = np.tril(np.ones((T, T))) * mask(sizes)[:, None, None, :]
    weights = {
        **attention_weights(rng, "self_attention", D),
        **norm(rng, "self_norm", D),
        **attention_weights(rng, "cross_attention", D),
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


forward = functools.partial(
    BertCall,
    "DecoderLayer.forward",
    ("states", "encoded", "self_mask", "cross_mask"),
    module="transformer",
    constants=("self_mask", "cross_mask"),
)
PRE_NORM = {"pre_norm": True}

EXERCISE = Exercise(
    id="decoder_layer",
    order=320,
    title="one decoder layer",
    points={"values": 6, "training": 2, "properties": 2},
    draw=draw,
    file="transformer.py",
    extension=True,
    probes=(
        probes.values(
            "post-norm", "the decoder layer gives a wrong output", forward(gradients=True)
        ),
        probes.values(
            "pre-norm",
            "the decoder layer is right in post-norm order, but wrong in pre-norm order",
            forward(options=PRE_NORM, gradients=True),
        ),
        probes.other_sizes(
            "the decoder layer", forward(inputs="other", sizes=OTHER_SIZES, dtype="float64")
        ),
        probes.no_dropout(forward(train=True, dropout=0.0)),
        probes.misplaced_dropout("all dropped", forward(train=True, dropout=1.0)),
        probes.misplaced_dropout(
            "all dropped in pre-norm", forward(options=PRE_NORM, train=True, dropout=1.0)
        ),
    ),
)
