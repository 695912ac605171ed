"""Functions that return a plain number, or call another function."""

import norms
import torch
from torch import Tensor


def rate(step: int, warm: int) -> float:
    """Return the rate of a step: it grows to 1 in `warm` steps, and then falls."""
    # TODO(rate): a line for each part.
    ### BEGIN SOLUTION rate
    return step / warm if step < warm else (warm / step) ** 0.5
    ### END SOLUTION rate


def block(x: Tensor) -> Tensor:
    """Add to x what its norm becomes: (B, D) -> (B, D)."""
    # TODO(block): call scaled.
    ### BEGIN SOLUTION block
    return x + torch.sin(norms.scaled(x))
    ### END SOLUTION block
