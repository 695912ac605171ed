"""Changes to a call's inputs, for facts and situations."""

from collections.abc import Mapping

import numpy as np

from tensormark.exercise import Tensors
from tensormark.viva.subject import Poke


def with_values(value: float, *names: str) -> Poke:
    """Fill some inputs with one number."""
    return lambda inputs: inputs | {name: np.full_like(inputs[name], value) for name in names}


def negated(*names: str) -> Poke:
    """Replace inputs x by 1 - x."""
    return lambda inputs: inputs | {name: 1.0 - inputs[name] for name in names}


def at(index: tuple[object, ...], *names: str) -> Poke:
    """Replace inputs x by 1 - x at one index."""

    def poke(inputs: Tensors) -> Tensors:
        changed = {name: inputs[name].copy() for name in names}
        for value in changed.values():
            value[index] = 1.0 - value[index]  # type: ignore[index]
        return inputs | changed

    return poke


def rolled(axes: Mapping[str, int]) -> Poke:
    """Roll inputs by one position, the last one to the front, each along its axis."""
    return lambda inputs: (
        inputs | {name: np.roll(inputs[name], 1, axis) for name, axis in axes.items()}
    )


def first(axes: Mapping[str, int]) -> Poke:
    """Cut inputs to the first position along an axis, each along its own."""
    return lambda inputs: (
        inputs | {name: inputs[name].take([0], axis) for name, axis in axes.items()}
    )
