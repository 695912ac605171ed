"""Prepare torch for submissions: its lazy setup is done once, and its compiler is left out."""

from collections.abc import Callable
from typing import Any

import safetensors.torch  # noqa: F401  # submissions need it to read weights
import torch
import torch.utils._device  # asking for the default device imports it
from torch import nn

ANSWER = "__dynamo_disable"


def spare_dynamo() -> None:
    """Keep a student's optimizer from importing torch._dynamo, which takes as long as torch itself.

    Methods of torch.optim.Optimizer are wrapped so that the compiler skips them; on its first call,
    the wrapper imports the compiler to get an uncompiled version of the method, which it caches in
    an attribute. Nothing here is compiled, so the method itself can be put there. If another
    version of torch names the attribute differently, this does nothing, and the first optimizer is
    slow again.
    """
    for member in vars(torch.optim.Optimizer).values():
        wrapped = getattr(member, "__wrapped__", None)
        if wrapped is not None:
            setattr(wrapped, ANSWER, wrapped)


def compile_nothing() -> None:
    """Make torch.compile return its function unchanged, as it would compute the same.

    The compiler takes up to minutes to import, and writes files, which the isolating tiers forbid.
    """

    def compiled(model: Callable[..., Any] | None = None, **_: Any) -> Any:
        return compiled if model is None else model

    torch.compile = compiled


def use_torch() -> None:
    """Compute a tiny model's output and gradients, on one thread.

    A multi-threaded region before a fork would hang every child that starts another one.
    """
    torch.set_num_threads(1)
    model = nn.Sequential(
        nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU(), nn.Dropout(), nn.Linear(8, 2)
    )
    loss = nn.functional.cross_entropy(model(torch.randn(4, 8)), torch.zeros(4).long())
    torch.autograd.backward(loss)
