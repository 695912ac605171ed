"""Literals of a call that private references replace: an extra input holds them as JSON.

They are recorded with the other inputs, and sent instead of the exercise's literals.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

Tensors = dict[str, np.ndarray]
NAME = "literals"  # of the input


def packed(literals: Mapping[str, Any]) -> Tensors:
    """Return the input that holds these literals."""
    return {NAME: np.frombuffer(json.dumps(literals).encode(), dtype=np.uint8)}


def unpacked(inputs: Tensors) -> dict[str, Any]:
    """Return the literals in the inputs of a call; empty if the exercise's are used."""
    return dict(json.loads(inputs[NAME].tobytes())) if NAME in inputs else {}


def sent(message: dict[str, Any], inputs: Tensors) -> tuple[dict[str, Any], Tensors]:
    """Return the message and the tensors that a worker gets for a call with these inputs."""
    if NAME not in inputs:
        return message, inputs
    literals = {**message["literals"], **unpacked(inputs)}
    tensors = {name: value for name, value in inputs.items() if name != NAME}
    return {**message, "literals": literals}, tensors
