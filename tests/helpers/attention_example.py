"""The handout's example of attention, run through the solution."""

from typing import NamedTuple

import torch
from torch import Tensor

from bert import BertSelfAttention
from config import BertConfig

# Queries, keys and values of three tokens in two heads of width 2. The last token is padding, with
# large values, so that a leak is noticed.
TOKENS = ("not", "dull", "[PAD]")
HEADS = (
    (((2, 0), (0, 1), (2, 1)), ((1, 0), (2, 1), (1, 3)), ((1, 0), (3, 4), (9, 9))),
    (((0, 1), (1, 0), (1, 1)), ((3, 1), (1, 0), (0, 2)), ((0, 5), (1, 2), (7, 7))),
)
MASK = (0, 0, -10000)


class AttentionExample(NamedTuple):
    """What attention computes, for two heads of width 2 and three tokens, in float64."""

    query: Tensor  # (H, T, d), as are key, value and output
    key: Tensor
    value: Tensor
    scores: Tensor  # (H, T, T), as are scaled and probabilities
    scaled: Tensor
    probabilities: Tensor
    output: Tensor
    merged: Tensor  # (T, D)


def solved(mask=MASK):
    """Run BertSelfAttention with weights that give the example's queries, keys and values."""
    query, key, value = torch.tensor(HEADS, dtype=torch.float64).unbind(1)  # (H, T, d) each
    H, T, d = query.shape
    part = BertSelfAttention(BertConfig(hidden_size=H * d, num_attention_heads=H)).double().eval()
    added = torch.tensor(mask, dtype=torch.float64).view(1, 1, 1, T)
    probabilities = []
    with torch.no_grad():
        for linear, wanted in ((part.query, query), (part.key, key), (part.value, value)):
            linear.weight.zero_()[:, :T] = torch.cat(list(wanted), dim=1).T  # (D, T)
            linear.bias.zero_()
        tokens = torch.eye(T, H * d, dtype=torch.float64)[None]  # each picks a column of weights
        part.dropout.register_forward_hook(lambda _, given, __: probabilities.append(given[0]))
        merged = part(tokens, added)[0]
    scores = torch.einsum("htd,hsd->hts", query, key)
    return AttentionExample(
        query,
        key,
        value,
        scores,
        scores / d**0.5,
        probabilities[0][0],
        torch.stack(merged.split(d, dim=1)),
        merged,
    )
