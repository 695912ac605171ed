"""Stands in for a function; no other names are needed."""

import torch
from torch import Tensor


def played(x: Tensor) -> Tensor:
    """Stand in for scaled, with something smooth that depends on all of x."""
    return torch.cos(x) + 0.5 * x.roll(1, -1)


STAND_INS = {"scaled": played}
