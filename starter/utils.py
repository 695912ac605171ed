"""The attention mask's two forms.

Dimension key: B batch, T tokens.
"""

import torch
from torch import Tensor

MASKED = -10000.0  # finite: -inf gives NaN on a row that is all padding


def get_extended_attention_mask(attention_mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Convert a 1/0 mask to one that can be added to attention scores.

    Args:
        attention_mask: (B, T), 1 for a token and 0 for padding.
        dtype: the type of the scores it will be added to.

    Returns:
        (B, 1, 1, T) in `dtype`: 0.0 where there is a token, -10000.0 where there is padding. The
        two axes of size 1 stand for the heads and the queries.
    """
    extended = attention_mask[:, None, None, :].to(dtype)  # (B, 1, 1, T)
    return (1.0 - extended) * MASKED
