"""The embedding: word, position and token type, then LayerNorm and dropout.

Dimension key: B batch, T tokens, D model width.
"""

import numpy as np

from grader.cases import OTHER_SIZES, Call, Exercise, Probe, Sizes, Tensors
from grader.cases.drawing import as_weights, model_weights, token_ids

FALSE_ALARM = 1e-9  # chance that a right dropout is called wrong
PATTERN = Sizes(B=8, T=10, V=31, lengths=(10, 9, 8, 7, 6, 5, 4, 3))


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw ids with padding and a model's weights."""
    sizes = call.sizes
    inputs = {
        "input_ids": token_ids(rng, sizes),
        "cotangent/output": rng.standard_normal((sizes.B, sizes.T, sizes.D)),
    }
    weights = model_weights(rng, sizes)
    if call.inputs == "pattern":
        # a norm that gives exactly 1 everywhere, so that only what dropout does is left to see
        weights["embed_layer_norm.weight"][:] = 0.0
        weights["embed_layer_norm.bias"][:] = 1.0
    return inputs | as_weights(weights)


def examine_dropout(outputs: Tensors, inputs: Tensors) -> str | None:
    """Judge one training pass with rate 1/2 whose output would be 1 everywhere in eval mode."""
    del inputs
    output = outputs["output"].astype(np.float64)
    kept = output[output != 0]
    if kept.size and np.abs(kept - 2.0).max() > 1e-3:
        return "with a dropout rate of 0.5, what is kept is not doubled"
    # Hoeffding: P(|kept - 1/2| > t) <= 2 exp(-2 n t^2)
    allowed = np.sqrt(np.log(2 / FALSE_ALARM) / (2 * output.size))
    share = kept.size / output.size
    if abs(share - 0.5) > allowed:
        return f"with a dropout rate of 0.5, {1 - share:.2f} of the values are dropped"
    return None


TARGET, ALONE = "BertModel.embed", ("input_ids",)

EXERCISE = Exercise(
    id="embed",
    order=4,
    title="the embedding layer",
    points={"values": 12, "training": 4, "properties": 4},
    upstream=(),
    draw=draw,
    probes=(
        Probe(
            "output", "values", "embed gives a wrong output", (Call(TARGET, ALONE, gradients=True),)
        ),
        Probe(
            "other sizes",
            "properties",
            "embed is wrong for other sizes or in float64",
            (Call(TARGET, ALONE, inputs="other", sizes=OTHER_SIZES, dtype="float64"),),
        ),
        Probe(
            "no dropout",
            "training",
            "with a dropout rate of 0, training should give what eval gives",
            (Call(TARGET, ALONE, train=True, dropout=0.0),),
        ),
        Probe(
            "all dropped",
            "training",
            "dropout in training is not where it should be",
            (Call(TARGET, ALONE, train=True, dropout=1.0),),
        ),
        Probe(
            "dropout pattern",
            "training",
            "dropout in training is not where it should be",
            (Call(TARGET, ALONE, inputs="pattern", sizes=PATTERN, train=True, dropout=0.5),),
            examine=examine_dropout,
        ),
    ),
)
