"""Use torch once, so that a submission's first call does not pay for torch's lazy setup."""

import torch
import torch.onnx.ops  # forbidden names are looked up in it too
from torch import nn


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
