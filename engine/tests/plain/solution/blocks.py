"""A function that calls another one."""

import norms
import torch
from torch import Tensor


def block(x: Tensor) -> Tensor:
    """Add to x what its norm becomes: (B, D) -> (B, D)."""
    # TODO(block): call scaled.
    ### BEGIN SOLUTION block
    return x + torch.sin(norms.scaled(x))
    ### END SOLUTION block
