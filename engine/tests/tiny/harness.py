"""The detector's harness for the worker: how it is built, partly replaced, and trained.

Runs beside a student's code, and contains no right answers. Of the names in
tensormark/worker/calls.py, an assignment needs those that its calls use: this one has no frozen
weights, and no arguments of its own.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from tensormark.worker.calls import Answer, Context, Progress


def constructor_arguments(context: Context, call: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of every class: channels, patterns, width."""
    return tuple(call["config"][name] for name in "DPK")


def convolution(part: Any, signals: Tensor) -> Tensor:
    """Stand in for a Convolution: some patterns are found; others are not, for the ReLU to hide.

    (B, D, T) in, (B, P, T - 1) out.
    """
    patterns = len(part.bias)
    rates = torch.arange(1, patterns + 1, dtype=signals.dtype)[:, None]
    levels = torch.linspace(-2.0, 2.0, patterns, dtype=signals.dtype)[:, None]
    steps = signals[..., 1:] - 0.5 * signals[..., :-1]
    return torch.sin(rates * steps.sum(1, keepdim=True)) + levels


STAND_INS = {"convolution": convolution}


def train(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Train the student's detector with the student's optimizer and predict other signals.

    Args:
        call: `config`, sizes; `seed`; `steps`.
        tensors: `signals`, (N, D, T); `labels`, (N,); `others`, (M, D, T).

    Returns:
        out/predictions: (M,) int64.
    """
    torch.manual_seed(call["seed"])  # draws the weights
    arguments = constructor_arguments(context, call)
    model = context.module("detector").Detector(*arguments, classes=call["config"]["C"])
    optimizer = context.module("momentum").Momentum(model.parameters())
    for step in range(call["steps"]):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(tensors["signals"]), tensors["labels"]).backward()
        optimizer.step()
        progress(step + 1, call["steps"])
    with torch.no_grad():
        return Answer({}, {"out/predictions": model(tensors["others"]).argmax(-1)})


KINDS = {"train": train}
