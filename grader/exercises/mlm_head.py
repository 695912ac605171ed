"""The head that predicts tokens: dense, GELU, LayerNorm, and the transposed word embedding."""

import functools

import numpy as np

from grader import probes
from grader.model import OTHER_SIZES, BertCall
from tensormark.exercise import Exercise, Tensors
from tensormark.toolkit.draws import as_weights, dense, norm

CHOSEN = 5  # tokens, where pretrain.py passes on only those that are to be predicted
QUIET = 1e-6  # of hidden states whose variance is near the norm's epsilon, 1e-12


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw hidden states, an embedding table and the head's weights."""
    sizes, scale = call.sizes, QUIET if call.inputs == "quiet" else 1.0
    shape = (CHOSEN,) if call.inputs == "chosen" else (sizes.B, sizes.T)
    weights = {
        **dense(rng, "dense", sizes.D, sizes.D),
        **norm(rng, "layer_norm", sizes.D),
        "bias": rng.standard_normal(sizes.V),
    }
    weights["dense.bias"] *= scale
    return {
        "hidden_states": scale * rng.standard_normal((*shape, sizes.D)),
        "word_embedding": rng.standard_normal((sizes.V, sizes.D)),
        "cotangent/output": rng.standard_normal((*shape, sizes.V)),
        **as_weights(weights),
    }


forward = functools.partial(
    BertCall,
    "MaskedLanguageModelHead.forward",
    ("hidden_states", "word_embedding"),
    module="pretraining",
)

EXERCISE = Exercise(
    id="mlm_head",
    order=230,
    title="the head that predicts tokens",
    points={"values": 4, "properties": 2},
    draw=draw,
    file="pretraining.py",
    extension=True,
    probes=(
        probes.values("logits", "mlm_head gives wrong logits", forward(gradients=True)),
        probes.other_sizes("mlm_head", forward(inputs="other", sizes=OTHER_SIZES, dtype="float64")),
        probes.small_numbers("mlm_head", forward(inputs="quiet", dtype="float64")),
        probes.properties(
            "chosen tokens",
            "mlm_head is wrong for tokens without an axis of rows",
            forward(inputs="chosen"),
        ),
        probes.without_dropout("mlm_head", forward(train=True)),
    ),
)
