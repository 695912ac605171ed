"""Convert a student's return value to named tensors, or raise an error; compute their gradients.

Runs in the worker.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensormark.worker import values
from tensormark.worker.optional_torch import Tensor, torch
from tensormark.worker.protocol import LONGEST, MAX_AXES

# the types of tensors that torch, numpy and safetensors support
SENDABLE = frozenset("float16 float32 float64 int32 int64 bool".split())
DENSE = "it should be dense, as after .to_dense()"
WIDEST = {"i": np.int64, "u": np.int64, "f": np.float64}  # an array is sent as, by its kind
WIDTH = 16  # the least width of padded lists, so that random draws do not determine shapes


class StudentError(Exception):
    """An error in the submission that stops a call; the message is for the student."""


def _padded(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Return lists of integers as (lists, WIDTH or longest), int64, padded with -1."""
    longest = max([WIDTH, *map(len, rows)])
    return np.array([[*row, *[-1] * (longest - len(row))] for row in rows], dtype=np.int64)


def columns(rows: Any, names: Sequence[str], target: str) -> dict[str, np.ndarray]:
    """Convert rows of integers and lists of integers to an array for each column.

    Returns: by name, int64: (rows,) for integers, (rows, WIDTH or longest) for lists, padded
        with -1.

    Raises:
        StudentError: the rows are something else.
    """
    tensors = {}
    try:
        for name, cells in zip(names, zip(*rows, strict=True), strict=True):
            plain = all(isinstance(cell, int) for cell in cells)
            tensors[name] = np.array(cells, dtype=np.int64) if plain else _padded(cells)
    except (TypeError, ValueError, OverflowError) as error:
        raise StudentError(f"{target} should return a list of ({', '.join(names)})") from error
    return tensors


def named(result: Any, call: Mapping[str, Any]) -> dict[str, Any]:
    """Name the outputs of a function; extra keys are ignored.

    What follows a single output in a tuple is ignored, too, if the function's caller unpacks it.

    Raises:
        StudentError: an output is missing, or the result is something else.
    """
    names, form, target = call["returns"], call["form"], call["target"]
    if form == "dict" and isinstance(result, Mapping) and all(name in result for name in names):
        return {name: result[name] for name in names}
    if form == "tensor":
        return {names[0]: result}
    if form == "tuple" and len(names) == 1:
        if not isinstance(result, tuple):
            result = (result,)
        elif call.get("taken_by"):
            result = result[:1]
    got = ""
    if form == "dict" and isinstance(result, Mapping):
        got = f", but {next(name for name in names if name not in result)} is missing"
    if form == "tuple" and isinstance(result, tuple | list):
        if len(result) == len(names):
            return dict(zip(names, result, strict=True))
        got = f", got {len(result)} values"
    form = f"a {form} with the keys" if form == "dict" else f"a {form} of"
    raise StudentError(f"{target} should return {form} {' and '.join(names)}{got}")


def description(value: Any) -> str:
    """Describe what was returned instead of an array, and the usual slip behind it."""
    if value is None:
        return "None: is the return missing?"
    if isinstance(value, tuple) and len(value) == 1:
        return "a tuple of one element: a comma after the returned value makes one"
    return f"a {type(value).__name__}"


def plain(result: Any, names: Sequence[str], target: str) -> dict[str, np.ndarray]:
    """Convert a plain value to an array of bytes, under the only name; see values.py.

    Raises:
        StudentError: the result is not plain.
    """
    try:
        return {names[0]: values.packed(result)}
    except (TypeError, ValueError) as error:
        says = f"{target} should return plain values: numbers, strings, lists and the like"
        raise StudentError(f"{says}, but not {error}") from error


def _checked_tensor(value: Any, target: str) -> Tensor:
    """Return a tensor that can be sent.

    Raises:
        StudentError: it is none.
    """
    if not isinstance(value, Tensor):
        raise StudentError(f"{target} should return a tensor, got {description(value)}")
    if value.device.type != "cpu":
        raise StudentError(f"{target} returned a tensor on {value.device}, not on the CPU")
    if value.is_nested or value.layout is not torch.strided:
        kind = "nested" if value.is_nested else str(value.layout).removeprefix("torch.")
        raise StudentError(f"{target} returned a {kind} tensor: {DENSE}")
    return value


def _checked_array(value: Any, target: str) -> np.ndarray:
    """Return an array, or a number as one without axes, in the widest type of its kind.

    Raises:
        StudentError: it is none.
    """
    if isinstance(value, np.ndarray | np.generic | bool | int | float):
        array = np.asarray(value)
        return array.astype(WIDEST.get(array.dtype.kind, array.dtype), copy=False)
    raise StudentError(f"{target} should return a numpy array, got {description(value)}")


def outputs_of(result: Any, call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tensors or arrays that a function returned, by name.

    Raises:
        StudentError: it returned something else.
    """
    target = call["target"]
    if call["form"] == "value":
        return plain(result, call["returns"], target)
    if call["form"] == "rows":
        return columns(result, call["returns"], target)
    return checked(named(result, call), call)


def checked(outputs: dict[str, Any], call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a function returned, by name.

    Raises:
        StudentError: some of it cannot be sent.
    """
    is_numpy = call.get("arrays") == "numpy"
    noun = "an array" if is_numpy else "a tensor"
    arrays = {}
    for name, value in outputs.items():
        target = f"output {name} of {call['target']}" if len(outputs) > 1 else call["target"]
        array = _checked_array(value, target) if is_numpy else _checked_tensor(value, target)
        arrays[name] = array
        if str(array.dtype).removeprefix("torch.") not in SENDABLE:
            expected = "; expected real numbers" if is_numpy else ""
            raise StudentError(f"{target} returned {noun} of type {array.dtype}{expected}")
        if array.ndim > MAX_AXES:
            raise StudentError(f"{target} returned {noun} with {array.ndim} axes")
        if any(length > LONGEST for length in array.shape):
            raise StudentError(f"{target} returned {noun} that is too long: {list(array.shape)}")
    return arrays


def gradients(
    outputs: Mapping[str, Tensor], leaves: Mapping[str, Tensor], cotangents: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return the gradient of sum(output * cotangent) for every leaf that has one.

    It is computed as in a training, by `backward`: torch's reentrant checkpoints refuse
    `autograd.grad`, and a backward pass that is limited to some inputs.

    A single value may have any number of axes, as messages add an axis to a tensor without axes.
    """
    usable = []
    for name, value in outputs.items():
        cotangent = cotangents.get(name)
        if cotangent is None or not value.requires_grad:
            continue
        if value.shape == cotangent.shape or value.numel() == cotangent.numel() == 1:
            usable.append((value * cotangent.reshape(value.shape)).sum())
    if not usable:
        return {}
    for leaf in leaves.values():
        leaf.grad = None
    torch.autograd.backward(torch.stack(usable).sum())
    return {name: leaf.grad for name, leaf in leaves.items() if leaf.grad is not None}
