"""Runs with a submission in the worker, and contains no right answers.

STAND_INS replace upstream exercises; KINDS are the assignment's own kinds of calls, see
tensormark/worker/calls.py.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from tensormark.worker.calls import Answer, Context, Progress, below
from tensormark.worker.objects import load_by_name


def convolution(part: Any, signals: Tensor) -> Tensor:
    """Stand in for Convolution.forward: (B, P, T - 1), high for some patterns and low for others.

    It is smooth, depends on all its arguments, and is not a convolution.
    """
    patterns = len(part.bias)
    rates = torch.arange(1, patterns + 1, dtype=signals.dtype)[:, None]
    levels = torch.linspace(-2.0, 2.0, patterns, dtype=signals.dtype)[:, None]
    steps = signals[..., 1:] - 0.5 * signals[..., :-1]
    return torch.sin(rates * steps.sum(1, keepdim=True)) + levels


STAND_INS = {"convolution": convolution}


def new_model(context: Context, call: Mapping[str, Any]) -> nn.Module:
    """Build the detector; the seed draws its weights."""
    torch.manual_seed(call["seed"])
    model: nn.Module = context.module("detector").Detector(**call["model"])
    return model


def train(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Train the detector, and return its weights."""
    model = new_model(context, call)
    losses = []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for step in range(call["steps"]):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tensors["signals"]), tensors["labels"])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        progress(step + 1, call["steps"])
    outputs = {f"out/weights/{name}": value for name, value in model.named_parameters()}
    return Answer({}, outputs | {"out/losses": torch.tensor(losses, dtype=torch.float32)})


def predict(
    context: Context, call: Mapping[str, Any], tensors: Mapping[str, Tensor], progress: Progress
) -> Answer:
    """Label `others` with weights/<parameter>; answer with no tensors if these do not fit."""
    model = new_model(context, call)
    weights = below(tensors, "weights/")
    shapes = {name: value.shape for name, value in weights.items()}
    if shapes != {name: value.shape for name, value in model.named_parameters()}:
        return Answer({})
    load_by_name(model, weights)
    with torch.no_grad():
        return Answer({}, {"out/predictions": model(tensors["others"]).argmax(-1)})


KINDS = {"train": train, "predict": predict}
