"""What an exercise's `draw` returns, checked before anything else uses it."""

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from tensormark.literals import Tensors, unpacked
from tensormark.usage import UserError
from tensormark.worker.protocol import TYPE_NAMES

EXPECTED = "bool, uint8, int8 to int64, or float16 to float64"  # the keys of TYPE_NAMES


def _array(name: str, value: Any) -> np.ndarray:
    """Return an input as an array of a type that workers take."""
    what = type(value).__name__
    with contextlib.suppress(Exception):  # lists of different lengths have no array
        array = np.array(value, order="C")
        if array.dtype.str in TYPE_NAMES:
            return array
        what += f" of {array.dtype}"
    raise UserError(f"draw returns {name!r} as {what}; expected an array of {EXPECTED}")


def inputs_in(drawn: Any) -> Tensors:
    """Return what `draw` has returned, as arrays by name.

    Raises:
        UserError: it is something else; the message says what, and what is expected.
    """
    if not isinstance(drawn, Mapping) or not all(isinstance(name, str) for name in drawn):
        raise UserError(f"draw returns {type(drawn).__name__}; expected a dict of names to arrays")
    inputs = {name: _array(name, value) for name, value in drawn.items()}
    try:
        unpacked(inputs)
    except (ValueError, TypeError) as error:
        raise UserError("draw returns 'literals'; expected what **packed({...}) adds") from error
    return inputs
