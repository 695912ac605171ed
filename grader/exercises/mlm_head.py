"""The head that predicts tokens: dense, GELU, LayerNorm, and the transposed word embedding."""

import numpy as np

from grader.model import HEADS, OTHER_HEADS
from grader.probes import small_numbers, without_dropout
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.draws import as_weights, dense, norm
from tensormark.toolkit.probes import other_sizes

CHOSEN = 5  # tokens, where pretrain.py passes on only those that are to be predicted
QUIET = 1e-6  # of hidden states whose variance is near the norm's epsilon, 1e-12


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw hidden states, an embedding table and the head's weights."""
    sizes = call.sizes
    scale = QUIET if call.inputs == "quiet" else 1.0
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


EXERCISE = exercise(
    "MaskedLanguageModelHead.forward",
    ("hidden_states", "word_embedding"),
    draw,
    sizes=HEADS,
    id="mlm_head",
    order=230,
    title="the head that predicts tokens",
    points={"values": 4, "properties": 2},
    file="pretraining.py",
    extension=True,
    probes=(
        probe("logits", "values", "mlm_head gives wrong logits", gradients=True),
        other_sizes("mlm_head", OTHER_HEADS),
        small_numbers("mlm_head"),
        probe(
            "chosen tokens",
            "properties",
            "mlm_head is wrong for tokens without an axis of rows",
            inputs="chosen",
        ),
        without_dropout("mlm_head"),
    ),
)
