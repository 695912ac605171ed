"""The embedding: word, position and token type, then LayerNorm and dropout.

Dimension key: B batch, T tokens, D model width.
"""

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from grader import probes
from grader.inputs import mask, model_weights, token_ids
from grader.model import LONG, BertCall, Sizes
from tensormark.exercise import SECOND_CALL, Exercise, Tensors
from tensormark.toolkit.draws import as_weights
from tensormark.toolkit.dropout import numbers

QUIET = 1e-5  # scale of the embeddings on which a wrong epsilon of LayerNorm shows
MAIN = Sizes()
PATTERN = Sizes(B=8, T=10, V=31, lengths=(10, 9, 8, 7, 6, 5, 4, 3))


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw ids with padding and a model's weights."""
    sizes = call.sizes
    inputs = {
        "input_ids": token_ids(rng, sizes),
        # none for padding: its word embedding may or may not have a gradient
        "cotangent/output": rng.standard_normal((sizes.B, sizes.T, sizes.D))
        * mask(sizes)[..., None],
    }
    if call.inputs == "token types":
        inputs["token_type_ids"] = np.sort(rng.integers(0, 2, (sizes.B, sizes.T)))
    if call.inputs == SECOND_CALL:
        inputs["before/input_ids"] = inputs["input_ids"][:, :-2].copy()
    weights = model_weights(rng, replace(sizes, layers=0))
    if call.inputs == "quiet":
        weights = {n: QUIET * v if "embedding" in n else v for n, v in weights.items()}
    if call.inputs == "pattern":
        # every token's sum is the same vector of mean 0 and variance 1, which a norm only scales
        for name in ("word_embedding", "pos_embedding", "tk_type_embedding"):
            weights[f"{name}.weight"][:] = 0.0
        weights["word_embedding.weight"][:] = np.resize([1.0, -1.0], sizes.D)
        weights["embed_layer_norm.weight"][:] = 2.0
        weights["embed_layer_norm.bias"][:] = 3.0
    return inputs | as_weights(weights)


def dropped(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Return the output, which is 0 only where it was dropped."""
    return outputs["output"]


def measure(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Compute the statistics `kept`, `factor`, `broken` and `zero` of dropout.py."""
    undropped = 3.0 + 2.0 * inputs["weights/word_embedding.weight"][1]  # (D,)
    return numbers(outputs["output"], undropped)


DROPOUT_CANDIDATES = PATTERN.B * PATTERN.T * PATTERN.D  # values that may be dropped


def embed(sizes: Sizes = MAIN, **more: Any) -> BertCall:
    """Return a call of embed, in a model of one layer, as layers are not involved."""
    return BertCall("BertModel.embed", ("input_ids",), sizes=replace(sizes, layers=1), **more)


TYPES = ("token_type_ids",)  # the published scaffold's functions do not take them
with_types = replace(embed(inputs="token types", optional=TYPES), args=("input_ids", *TYPES))

EXERCISE = Exercise(
    id="embed",
    order=40,
    title="the embedding layer",
    file="bert.py",
    points={"values": 12, "training": 4, "properties": 4},
    draw=draw,
    probes=(
        probes.values("output", "embed gives a wrong output", embed(gradients=True)),
        probes.other_sizes("embed", embed(inputs="other", sizes=LONG, dtype="float64")),
        probes.small_numbers("embed", embed(inputs="quiet", dtype="float64")),
        probes.second_call(embed(inputs=SECOND_CALL)),
        probes.properties(
            "token types",
            "embed gives a wrong output for pairs of sentences, whose token types are 0 and 1",
            with_types,
        ),
        probes.no_dropout(embed(train=True, dropout=0.0)),
        probes.misplaced_dropout("all dropped", embed(train=True, dropout=1.0)),
        *probes.dropout_pattern(
            "the normalized embeddings",
            functools.partial(embed, inputs="pattern", sizes=PATTERN),
            DROPOUT_CANDIDATES,
            measure,
            dropped,
        ),
    ),
)
