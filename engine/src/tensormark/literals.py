"""Literals of a call that are drawn: an extra input holds them, as worker/values.py says.

They are recorded with the other inputs, and sent instead of the exercise's literals.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tensormark.worker import values

Tensors = dict[str, np.ndarray]
NAME = "literals"  # of the input
BEFORE = "before/"


def packed(literals: Mapping[str, Any]) -> Tensors:
    """Return the input that holds these literals."""
    return {NAME: values.packed(literals)}


def unpacked(inputs: Tensors) -> dict[str, Any]:
    """Return the literals in the inputs of a call; empty if the exercise's are used."""
    return dict(values.unpacked(inputs[NAME])) if NAME in inputs else {}


def alone(inputs: Tensors) -> Tensors:
    """Return the inputs of a call without those of the call before it."""
    own = {name: value for name, value in inputs.items() if not name.startswith(BEFORE)}
    literals = unpacked(own)
    if literals:
        own |= packed({n: value for n, value in literals.items() if not n.startswith(BEFORE)})
    return own


def sent(message: dict[str, Any], inputs: Tensors) -> tuple[dict[str, Any], Tensors]:
    """Return the message and the tensors that a worker gets for a call with these inputs."""
    if NAME not in inputs:
        return message, inputs
    literals = {**message["literals"], **values.loaded(inputs[NAME])}
    tensors = {name: value for name, value in inputs.items() if name != NAME}
    return {**message, "literals": literals}, tensors
