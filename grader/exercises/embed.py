"""The embedding: word, position and token type, then LayerNorm and dropout.

Dimension key: B batch, T tokens, D model width.
"""

import numpy as np

from grader.inputs import mask, model_weights, token_ids
from grader.model import LONG, MAIN, ONE_TOKEN
from grader.probes import RATES, dropout_pattern, many_rows, small_numbers
from tensormark.exercise import SECOND_CALL
from tensormark.toolkit import Call, Tensors, exercise, probe
from tensormark.toolkit.draws import as_weights
from tensormark.toolkit.dropout import numbers
from tensormark.toolkit.probes import all_dropped, no_dropout, other_sizes, output, second_call

QUIET = 1e-5  # scale of the embeddings on which a wrong epsilon of LayerNorm shows
ONE_LAYER = MAIN | {"layers": 1}  # as layers are not involved
PATTERN = ONE_LAYER | RATES | {"B": 8, "T": 10, "V": 31, "lengths": (10, 9, 8, 7, 6, 5, 4, 3)}


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw ids with padding and a model's weights."""
    sizes = call.sizes
    inputs = {
        "input_ids": token_ids(rng, sizes, sizes.V),
        # none for padding: its word embedding may or may not have a gradient
        "cotangent/output": rng.standard_normal((sizes.B, sizes.T, sizes.D))
        * mask(sizes)[..., None],
    }
    if call.inputs == "token types":
        types = np.sort(rng.integers(0, 2, (sizes.B, sizes.T)))
        inputs["token_type_ids"] = types ^ np.arange(sizes.B)[:, None] % 2  # some begin with 1
        inputs["before/input_ids"] = inputs["input_ids"][::-1].copy()  # of the same shape
    if call.inputs == SECOND_CALL:
        inputs["before/input_ids"] = inputs["input_ids"][:, :-2].copy()
    weights = model_weights(rng, sizes | {"layers": 0})
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


def measure(outputs: Tensors, inputs: Tensors) -> np.ndarray:
    """Compute the statistics `kept`, `factor`, `broken` and `zero` of dropout.py."""
    undropped = 3.0 + 2.0 * inputs["weights/word_embedding.weight"][1]  # (D,)
    return numbers(outputs["output"], undropped)


DROPOUT_CANDIDATES = PATTERN.B * PATTERN.T * PATTERN.D  # values that may be dropped


TYPES = ("token_type_ids",)  # the published scaffold's functions do not take them

EXERCISE = exercise(
    "BertModel.embed",
    ("input_ids",),
    draw,
    sizes=ONE_LAYER,
    order=40,
    title="the embedding layer",
    file="bert.py",
    points={"values": 12, "training": 4, "properties": 4},
    call={"constants": ("attention_mask",)},
    probes=(
        output("embed"),
        other_sizes("embed", LONG | {"layers": 1}),
        many_rows("embed"),
        small_numbers("embed", sizes=ONE_LAYER | ONE_TOKEN),
        second_call(),
        probe(
            "token types",
            "properties",
            "embed gives a wrong output for pairs of sentences, whose token types are 0 and 1",
            args=("input_ids", *TYPES),
            before=("input_ids",),
            inputs="token types",
            optional=TYPES,
        ),
        no_dropout(),
        all_dropped(gradients=True),
        dropout_pattern(
            "the normalized embeddings",
            PATTERN,
            DROPOUT_CANDIDATES,
            measure,
            lambda outputs, inputs: outputs["output"],  # which is 0 only where it was dropped
        ),
    ),
)
