"""The AdamW optimizer: steps with given gradients."""

from typing import Any

from grader import probes
from grader.model import BertCall
from tensormark.exercise import Exercise
from tensormark.toolkit.optimizers import STEPS, draw
from tensormark.toolkit.places import locator

AXES = {2: ("step", "value"), 3: ("step", "row", "column")}
LARGE_EPS = 0.1  # shows where eps stands
PLAIN = {"lr": 0.1, "betas": [0.8, 0.95], "eps": 1e-8}


def steps(count: int, *groups: dict[str, Any], **more: Any) -> BertCall:
    """Return a call in which the optimizer takes steps."""
    literals = {"groups": [PLAIN | group for group in groups], "steps": count}
    fields = {"kind": "optimizer", "literals": literals} | more
    return BertCall("AdamW.step", (), "optimizer", **fields)


WITHOUT_DECAY = {"params": ["a", "b"], "weight_decay": 0.0}
WITHOUT_CORRECTION = {"params": ["a", "b"], "weight_decay": 0.3, "correct_bias": False}
# with betas of 0 there is nothing to correct, so that both orders of the correction agree on eps
WITH_LARGE_EPS = {"params": ["a", "b"], "betas": [0.0, 0.0], "eps": LARGE_EPS}
EXERCISE = Exercise(
    id="adamw",
    order=100,
    title="the AdamW optimizer",
    points={"values": 8, "properties": 2},
    draw=draw,
    file="optimizer.py",
    extension=True,
    axes=AXES,
    locate=locator(AXES),
    probes=(
        probes.values("first step", "the first step is wrong", steps(1, WITHOUT_DECAY)),
        probes.values(
            "five steps",
            "the first step is right, but later ones are wrong",
            steps(STEPS, WITHOUT_DECAY),
        ),
        probes.values(
            "weight decay",
            "steps are right without weight decay, but wrong with it",
            steps(STEPS, {"params": ["a", "b", "c"], "weight_decay": 0.3}),
        ),
        probes.values(
            "groups",
            "one group of parameters is right, but several with different settings are wrong",
            steps(
                STEPS,
                {"params": ["a"], "weight_decay": 0.3},
                {"params": ["b", "c"], "lr": 0.02, "betas": [0.5, 0.7], "weight_decay": 0.0},
            ),
        ),
        probes.properties(
            "no bias correction",
            "steps are wrong with correct_bias=False, or in float64",
            steps(STEPS, WITHOUT_CORRECTION, dtype="float64"),
        ),
        probes.properties(
            "large eps", "steps are wrong where eps is large", steps(2, WITH_LARGE_EPS)
        ),
        probes.properties(
            "order in memory",
            "steps are wrong for parameters that are not contiguous in memory",
            steps(2, WITHOUT_DECAY, kind="transposed optimizer"),
        ),
    ),
)
