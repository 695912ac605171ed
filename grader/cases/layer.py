"""One encoder layer, alone (with stand-ins for attention and add_norm) and with the student's own.

Dimension key: B batch, T tokens, D model width.
"""

import numpy as np

from grader.cases import OTHER_SIZES, Call, Exercise, Probe, Sizes, Tensors
from grader.cases.drawing import as_weights, extended_mask, hidden_states, layer_weights


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw hidden states, the additive mask and a layer's weights."""
    sizes = call.sizes
    return {
        "hidden_states": hidden_states(rng, sizes),
        "attention_mask": extended_mask(sizes),
        "cotangent/output": rng.standard_normal((sizes.B, sizes.T, sizes.D)),
        **as_weights(layer_weights(rng, sizes)),
    }


# The stand-in for add_norm reads the rate of the dropout module it is given, so that even in eval
# mode it matters which one that is.
RATES = {"attention_dropout": 0.25, "out_dropout": 0.75}


def calls(
    inputs: str = "main",
    sizes: Sizes = Sizes(),  # noqa: B008 - frozen
    gradients: bool = False,
    train: bool = False,
    dropout: float = 0.1,
    dtype: str = "float32",
) -> tuple[Call, ...]:
    """Return the layer's own call, then with attention given, then with both given."""
    attention = {"self_attention": "attention"}
    both = attention | {"add_norm": "add_norm"}
    settings: list[tuple[tuple[str, ...], dict[str, str], dict[str, float]]] = [
        ((), {}, {}),
        (("attention",), attention, {}),
        (("attention", "add_norm"), both, {} if train else RATES),
    ]
    return tuple(
        Call(
            "BertLayer.forward",
            ("hidden_states", "attention_mask"),
            inputs=inputs,
            sizes=sizes,
            given=given,
            stand_ins=stand_ins,
            rates=rates,
            gradients=gradients,
            train=train,
            dropout=dropout,
            dtype=dtype,
        )
        for given, stand_ins, rates in settings
    )


EXERCISE = Exercise(
    id="layer",
    order=3,
    title="one encoder layer",
    points={"values": 9, "training": 3, "properties": 3},
    upstream=("attention", "add_norm"),
    draw=draw,
    probes=(
        Probe("output", "values", "the layer gives a wrong output", calls(gradients=True)),
        Probe(
            "other sizes",
            "properties",
            "the layer is wrong for other sizes or in float64",
            calls("other", OTHER_SIZES, dtype="float64"),
        ),
        Probe(
            "no dropout",
            "training",
            "with a dropout rate of 0, training should give what eval gives",
            calls(train=True, dropout=0.0),
        ),
        Probe(
            "all dropped",
            "training",
            "dropout in training is not where it should be",
            calls(train=True, dropout=1.0),
        ),
    ),
)
