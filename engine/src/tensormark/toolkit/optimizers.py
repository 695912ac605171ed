"""Exercises on an optimizer, whose calls take steps with given gradients.

EXERCISE = optimizer(
    "Momentum.step",
    probes=usual_steps({"lr": 0.1, "momentum": 0.8}, {"lr": 0.5}),
    id="momentum", order=30, title="momentum", file="momentum.py",
    points={"values": 8, "properties": 2},
)
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.exercise import Call, Exercise, Tensors
from tensormark.toolkit.probes import Case, exercise, probe

SHAPES = {"a": (4, 3), "b": (5,), "c": (2, 2)}  # c never has a gradient
STEPS = 5
MIN_GRADIENT = 0.5  # of nonzero gradients, so that an epsilon's position does not matter


def draw(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw parameters, and gradients for each step, some of them 0."""
    inputs: Tensors = {f"start/{name}": rng.standard_normal(s) for name, s in SHAPES.items()}
    for name in ("a", "b"):
        values = rng.standard_normal((STEPS, *SHAPES[name]))
        values += MIN_GRADIENT * np.sign(values)
        values[:, 0] = 0.0
        inputs[f"gradients/{name}"] = values
    return inputs


def steps(number: int, *groups: Mapping[str, Any]) -> dict[str, Any]:
    """Return the literals of a call that takes steps with these groups of parameters."""
    return {"groups": groups, "steps": number}


def usual_steps(plain: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[Case, ...]:
    """Probe one step, several, and those of two groups, of which a parameter has no gradient.

    Args:
        plain: settings of the group that all probes have; the class's defaults apply to others.
        other: settings of the second group.
    """
    both = {"params": ["a", "b"], **plain}
    first = {"params": ["a"], **plain}
    second = {"params": ["b", "c"], **other}
    later = "the first step is right, but later ones are wrong"
    groups = "steps are wrong with several groups of parameters or in float64"
    return (
        probe("first step", "values", "the first step is wrong", literals=steps(1, both)),
        probe("steps", "values", later, literals=steps(STEPS, both)),
        probe(
            "groups", "properties", groups, literals=steps(STEPS, first, second), dtype="float64"
        ),
    )


def optimizer(target: str, *, probes: Sequence[Case], **about: Any) -> Exercise:
    """Return an exercise on an optimizer.

    Args:
        target: the class and its method, such as "Momentum.step".
        about: further fields of the exercise, as in `exercise`.
    """
    # an assignment names the axes of outputs, but those of a parameter mean something else
    about = {"axes": {}, "locate": lambda *_: None, **about}
    return exercise(target, (), draw, probes=probes, call={"kind": "optimizer"}, **about)
