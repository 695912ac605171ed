"""Functions that return plain numbers, or call each other."""

import norms
import torch
from torch import Tensor


def rate(step: int, warm: int) -> float:
    """Return the rate of a step: it grows to 1 in `warm` steps, and then falls."""
    # TODO(rate): a line for each part.
    ### BEGIN SOLUTION rate
    return step / warm if step < warm else (warm / step) ** 0.5
    ### END SOLUTION rate


def rates(number: int, warm: int) -> list[float]:
    """Return the rates of the first steps."""
    # TODO(rates): call rate.
    ### BEGIN SOLUTION rates
    return [rate(step, warm) for step in range(number)]
    ### END SOLUTION rates


def block(x: Tensor) -> Tensor:
    """Add to x what its norm becomes: (B, D) -> (B, D)."""
    # TODO(block): call scaled.
    ### BEGIN SOLUTION block
    return x + torch.sin(norms.scaled(x))
    ### END SOLUTION block


def greedy(scores: Tensor) -> int:
    """Return the index of the largest score; (C,)."""
    # TODO(choice): one call.
    ### BEGIN SOLUTION choice
    return int(scores.argmax())
    ### END SOLUTION choice
