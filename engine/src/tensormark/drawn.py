"""What an exercise's `draw` returns, checked before anything else uses it."""

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from tensormark.literals import Tensors, packed, unpacked
from tensormark.usage import UserError
from tensormark.worker.protocol import TYPE_NAMES
from tensormark.worker.values import encoded

EXPECTED = "bool, uint8, int8 to int64, or float16 to float64"  # the keys of TYPE_NAMES


def _array(name: str, value: Any, plain: bool) -> np.ndarray | None:
    """Return an input as an array of a type that workers take; None for a plain value.

    Args:
        plain: whether lists and numbers are plain values, and not short for arrays.
    """
    what = type(value).__name__
    if not plain or isinstance(value, np.ndarray | np.generic):
        with contextlib.suppress(Exception):  # lists of different lengths have no array
            array = np.array(value, order="C")
            if array.dtype.str in TYPE_NAMES:
                return array
            what += f" of {array.dtype}"
    try:
        encoded(value)
    except (TypeError, RecursionError):
        expected = f"an array of {EXPECTED}, or a plain value"
        raise UserError(f"draw returns {name!r} as {what}; expected {expected}") from None
    return None


def inputs_in(drawn: Any, plain: bool) -> Tensors:
    """Return what `draw` has returned, as arrays by name; plain values become literals.

    Args:
        plain: see `_array`.

    Raises:
        UserError: it is something else; the message says what, and what is expected.
    """
    if not isinstance(drawn, Mapping) or not all(isinstance(name, str) for name in drawn):
        raise UserError(f"draw returns {type(drawn).__name__}; expected a dict of names to arrays")
    found = {name: _array(name, value, plain) for name, value in drawn.items()}
    inputs = {name: array for name, array in found.items() if array is not None}
    values = {name: drawn[name] for name, array in found.items() if array is None}
    try:
        literals = unpacked(inputs)
        return inputs | packed(literals | values) if values else inputs
    except (ValueError, TypeError) as error:
        raise UserError("draw returns 'literals'; expected what **packed({...}) adds") from error
