"""Further kinds of calls, which an assignment's harness may add to its KINDS."""

import random
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tensormark.worker.calls import Answer, Context, Progress, arguments_of, run_optimizer
from tensormark.worker.members import member


def steps_across(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Let an optimizer take steps with parameters whose memory layout is that of a transpose."""
    across = {n: t.mT.contiguous().mT if t.dim() == 2 else t for n, t in tensors.items()}
    return run_optimizer(context, call, across)


def same(result: Any, other: Any) -> bool:
    """Return whether two results are equal: tensors, lists of numbers, or tuples of them."""
    if isinstance(result, Tensor):
        return isinstance(other, Tensor) and torch.equal(result, other)
    if isinstance(result, tuple | list) and type(result) is type(other):
        return len(result) == len(other) and all(map(same, result, other))
    return bool(result == other)


def equal_draws(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Call a function again: with the same seed, another seed, and the used generators.

    Returns:
        out/same_seed, out/other_seed, out/going_on: whether the result equals the first one.
    """
    function = member(context.module(call["module"]), call["target"], "function")

    def arguments(seed: int) -> list[Any]:
        return list(arguments_of(context, {**call, "seed": seed}, tensors, None))

    first, again = arguments(0), arguments(0)
    result = function(*first)
    generators = torch.Generator, random.Random
    used = [a if isinstance(a, generators) else b for a, b in zip(first, again, strict=True)]
    calls = {"same_seed": arguments(0), "other_seed": arguments(1), "going_on": used}
    equal = {name: same(result, function(*args)) for name, args in calls.items()}
    return Answer({}, {f"out/{name}": torch.tensor(value) for name, value in equal.items()})
