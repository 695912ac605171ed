"""Further kinds of calls, which an assignment's harness may add to its KINDS."""

import random
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tensormark.worker.calls import Answer, Context, Progress, arguments_of, run_optimizer
from tensormark.worker.members import member
from tensormark.worker.outputs import outputs_of


def steps_across(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Let an optimizer take steps with parameters whose memory layout is that of a transpose."""
    across = {n: t.mT.contiguous().mT if t.dim() == 2 else t for n, t in tensors.items()}
    return run_optimizer(context, call, across)


def draws(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Call a function with each seed, and once more with the last generators, as they were left.

    Args:
        tensors: the inputs of the call, and `seeds`; see toolkit/seeds.py.

    Returns:
        out/<number of the call>/<name>, and out/used/<name>.
    """
    function = member(context.module(call["module"]), call["target"], "function")
    answer: dict[str, Tensor] = {}

    def arguments(seed: int) -> list[Any]:
        return list(arguments_of(context, {**call, "seed": seed}, tensors, None))

    def add(number: int | str, args: list[Any]) -> None:
        outputs = outputs_of(function(*args), call)
        answer.update({f"out/{number}/{name}": value for name, value in outputs.items()})

    last = 0
    args: list[Any] = []
    for number, last in enumerate(tensors["seeds"].tolist()):
        args = arguments(last)
        add(number, args)
    generators = torch.Generator, random.Random
    fresh = zip(args, arguments(last), strict=True)
    add("used", [used if isinstance(used, generators) else other for used, other in fresh])
    return Answer({}, answer)
