"""The AdamW optimizer: steps with given gradients."""

from typing import Any

from tensormark.toolkit import locator, optimizer, probe
from tensormark.toolkit.optimizers import STEPS, steps

AXES = {2: ("step", "value"), 3: ("step", "row", "column")}
LARGE_EPS = 0.1  # shows where eps stands


def group(*params: str, **more: Any) -> dict[str, Any]:
    """Return a group of parameters with the usual settings, or with others."""
    return {"lr": 0.1, "betas": [0.8, 0.95], "eps": 1e-8, "params": list(params), **more}


WITHOUT_DECAY = group("a", "b", weight_decay=0.0)
WITHOUT_CORRECTION = group("a", "b", weight_decay=0.3, correct_bias=False)
# with betas of 0 there is nothing to correct, so that both orders of the correction agree on eps
WITH_LARGE_EPS = group("a", "b", betas=[0.0, 0.0], eps=LARGE_EPS, weight_decay=0.0)
SLOWER = group("b", "c", lr=0.02, betas=[0.5, 0.7], weight_decay=0.0)

EXERCISE = optimizer(
    "AdamW.step",
    id="adamw",
    order=100,
    title="the AdamW optimizer",
    points={"values": 8, "properties": 2},
    file="optimizer.py",
    extension=True,
    axes=AXES,
    locate=locator(AXES),
    probes=(
        probe("first step", "values", "the first step is wrong", literals=steps(1, WITHOUT_DECAY)),
        probe(
            "five steps",
            "values",
            "the first step is right, but later ones are wrong",
            literals=steps(STEPS, WITHOUT_DECAY),
        ),
        probe(
            "weight decay",
            "values",
            "steps are right without weight decay, but wrong with it",
            literals=steps(STEPS, group("a", "b", "c", weight_decay=0.3)),
        ),
        probe(
            "groups",
            "values",
            "one group of parameters is right, but several with different settings are wrong",
            literals=steps(STEPS, group("a", weight_decay=0.3), SLOWER),
        ),
        probe(
            "no bias correction",
            "properties",
            "steps are wrong with correct_bias=False, or in float64",
            literals=steps(STEPS, WITHOUT_CORRECTION),
            dtype="float64",
        ),
        probe(
            "large eps",
            "properties",
            "steps are wrong where eps is large",
            literals=steps(2, WITH_LARGE_EPS),
        ),
        probe(
            "order in memory",
            "properties",
            "steps are wrong for parameters that are not contiguous in memory",
            literals=steps(2, WITHOUT_DECAY),
            kind="transposed optimizer",
        ),
    ),
)
