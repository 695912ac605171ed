"""The probes that most exercises on an optimizer have, in one call.

EXERCISE = optimizer(
    "Momentum.step", plain={"lr": 0.1, "momentum": 0.8}, other={"lr": 0.5},
    id="momentum", order=30, title="momentum", file="momentum.py",
    points={"values": 8, "properties": 2},
)

first step     values       one step, with given gradients
steps          values       several
groups         properties   a second group with its own settings, and a parameter without a
                            gradient, in float64
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.exercise import Call, Exercise, Probe, Tensors

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


def optimizer(
    target: str,
    *,
    plain: Mapping[str, Any],
    other: Mapping[str, Any],
    id: str,
    title: str,
    file: str,
    points: Mapping[str, float],
    order: int = 0,
    further: Sequence[Probe] = (),
    **about: Any,
) -> Exercise:
    """Return an exercise on an optimizer with the usual probes.

    Args:
        target: the class and its method, such as "Momentum.step".
        plain: settings of the group that all probes have; the class's defaults apply to others.
        other: settings of the second group.
        further: additional probes.
        about: further fields of the exercise, such as `extension`.
    """

    def steps(number: int, *groups: Mapping[str, Any], dtype: str = "float32") -> tuple[Call]:
        """Return a call in which the optimizer takes steps."""
        literals = {"groups": groups, "steps": number}
        module = file.removesuffix(".py")
        return (Call(target, (), module, kind="optimizer", literals=literals, dtype=dtype),)

    both = {"params": ["a", "b"], **plain}
    groups = {"params": ["a"], **plain}, {"params": ["b", "c"], **other}
    probes = (
        Probe("first step", "values", "the first step is wrong", steps(1, both)),
        Probe(
            "steps",
            "values",
            "the first step is right, but later ones are wrong",
            steps(STEPS, both),
        ),
        Probe(
            "groups",
            "properties",
            "steps are wrong with several groups of parameters or in float64",
            steps(STEPS, *groups, dtype="float64"),
        ),
    )
    # an assignment names the axes of outputs, but those of a parameter mean something else
    about = {"axes": {}, "locate": lambda got, expected, inputs: None, **about}
    return Exercise(
        id=id,
        order=order,
        title=title,
        file=file,
        points=points,
        probes=(*probes, *further),
        draw=draw,
        **about,
    )
