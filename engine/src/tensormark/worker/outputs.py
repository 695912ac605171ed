"""Convert a student's return value to named tensors, or raise an error; compute their gradients.

Runs in the worker.
"""

import numbers
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from tensormark.worker.protocol import LONGEST, MAX_AXES

# The types that both numpy and safetensors support.
SENDABLE = {torch.float16, torch.float32, torch.float64, torch.int32, torch.int64, torch.bool}
DENSE = "it should be dense, as after .to_dense()"
WIDTH = 16  # the least width of padded lists, so that random draws do not determine shapes


class StudentError(Exception):
    """An error in the submission that stops a call; the message is for the student."""


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Return lists of integers as (lists, WIDTH or longest), int64, padded with -1."""
    longest = max([WIDTH, *map(len, rows)])
    return torch.tensor([[*row, *[-1] * (longest - len(row))] for row in rows], dtype=torch.int64)


def columns(rows: Any, names: Sequence[str], target: str) -> dict[str, Tensor]:
    """Convert rows of integers and lists of integers to a tensor for each column.

    Returns: by name, int64: (rows,) for integers, (rows, WIDTH or longest) for lists, padded
        with -1.

    Raises:
        StudentError: the rows are something else.
    """
    tensors = {}
    try:
        for name, cells in zip(names, zip(*rows, strict=True), strict=True):
            plain = all(isinstance(cell, int) for cell in cells)
            tensors[name] = torch.tensor(cells, dtype=torch.int64) if plain else _padded(cells)
    except (TypeError, ValueError) as error:
        raise StudentError(f"{target} should return a list of ({', '.join(names)})") from error
    return tensors


def lists(result: Any, names: Sequence[str], target: str) -> dict[str, Tensor]:
    """Convert a list of lists of integers to a tensor.

    Returns: under the only name, (lists, WIDTH or longest), padded with -1; int64.

    Raises:
        StudentError: the result is something else.
    """
    try:
        tensor = _padded([[operator.index(value) for value in row] for row in result])
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise StudentError(f"{target} should return a list of lists of integers") from error
    return {names[0]: tensor}


def as_number(value: Any) -> float:
    """Return a plain number, or the value of a tensor without axes.

    Raises:
        TypeError: the value is something else. OverflowError: it is too large.
    """
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, Tensor) and value.dim() == 0 and not value.is_complex():
        return float(value)
    raise TypeError(type(value).__name__)


def plain_numbers(result: Any, call: Mapping[str, Any]) -> dict[str, Tensor]:
    """Convert plain numbers to tensors of the call's dtype.

    Returns: by name; with the form "number", a single value for each name, in order; with
        "numbers", all of them under the only name, (numbers,).

    Raises:
        StudentError: the result is something else.
    """
    names = call["returns"]
    dtype = getattr(torch, call["dtype"])
    single = call["form"] == "number"
    what = " and ".join(names) if single and len(names) > 1 else "a number"
    what = what if single else f"a list of numbers, {names[0]}"
    values = [result] if single and len(names) == 1 else result
    if not isinstance(values, list | tuple) or (single and len(values) != len(names)):
        raise StudentError(f"{call['target']} should return {what}")
    try:
        floats = [as_number(value) for value in values]
    except (TypeError, OverflowError) as error:
        got = f"got a {error}" if isinstance(error, TypeError) else "got one that is too large"
        raise StudentError(f"{call['target']} should return {what}, {got}") from error
    tensor = torch.tensor(floats, dtype=dtype)
    return dict(zip(names, tensor.unbind(), strict=True)) if single else {names[0]: tensor}


def named(result: Any, names: Sequence[str], form: str, target: str) -> dict[str, Any]:
    """Name the outputs of a function; extra keys and extra elements are ignored.

    Raises:
        StudentError: an output is missing, or the result is something else.
    """
    if form == "dict" and isinstance(result, Mapping) and all(name in result for name in names):
        return {name: result[name] for name in names}
    if form == "tensor":
        return {names[0]: result}
    if form == "tuple" and len(names) == 1:
        return {names[0]: result[0] if isinstance(result, tuple) and result else result}
    if form == "tuple" and isinstance(result, tuple | list) and len(result) >= len(names):
        return dict(zip(names, result, strict=False))
    form = f"a {form} with the keys" if form == "dict" else f"a {form} of"
    raise StudentError(f"{target} should return {form} {' and '.join(names)}")


def description(value: Any) -> str:
    """Describe what was returned instead of a tensor, and the usual slip behind it."""
    if value is None:
        return "None: is the return missing?"
    if isinstance(value, tuple) and len(value) == 1:
        return "a tuple of one element: a comma after the returned value makes one"
    return f"a {type(value).__name__}"


def outputs_of(result: Any, call: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the tensors that a function returned, by name.

    Raises:
        StudentError: it returned something else.
    """
    target = call["target"]
    if call["form"] == "lists":
        return lists(result, call["returns"], target)
    if call["form"] == "rows":
        return columns(result, call["returns"], target)
    if call["form"] in ("number", "numbers"):
        return plain_numbers(result, call)
    return checked(named(result, call["returns"], call["form"], target), target)


def checked(outputs: dict[str, Any], target: str) -> dict[str, Tensor]:
    """Return the values that a function returned, by name.

    Raises:
        StudentError: some of it cannot be sent.
    """
    for value in outputs.values():
        if not isinstance(value, Tensor):
            raise StudentError(f"{target} should return a tensor, got {description(value)}")
        if value.device.type != "cpu":
            raise StudentError(f"{target} returned a tensor on {value.device}, not on the CPU")
        if value.is_nested or value.layout is not torch.strided:
            kind = "nested" if value.is_nested else str(value.layout).removeprefix("torch.")
            raise StudentError(f"{target} returned a {kind} tensor: {DENSE}")
        if value.dtype not in SENDABLE:
            raise StudentError(f"{target} returned a tensor of type {value.dtype}")
        if value.dim() > MAX_AXES:
            raise StudentError(f"{target} returned a tensor with {value.dim()} axes")
        if any(length > LONGEST for length in value.shape):
            raise StudentError(f"{target} returned a tensor that is too long: {[*value.shape]}")
    return outputs


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
