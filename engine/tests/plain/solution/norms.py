"""A norm."""

from torch import Tensor


def scaled(x: Tensor) -> Tensor:
    """Scale each row to a mean square of 1: (B, D) -> (B, D)."""
    # TODO(scaled): divide by the root.
    ### BEGIN SOLUTION scaled
    return x / x.square().mean(-1, keepdim=True).sqrt()
    ### END SOLUTION scaled
