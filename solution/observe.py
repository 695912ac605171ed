"""Looks into your model while it runs: where attention looks, and what it guesses.

Dimension key: B batch, T tokens, D model width, H heads, d head width, V vocabulary.
"""

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from bert import BertModel
from sentences import InputError
from tokenizer import BertTokenizer
from typed import encode

GUESSES = 5
Attention = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def probabilities(attention: Attention, key: Tensor, query: Tensor, mask: Tensor) -> Tensor:
    """Recover the probabilities with which an attention function averages values.

    If the values are the rows of an identity matrix, the weighted mean that a token gets *is* its
    probabilities. A value has only d units, so the matrix is passed in strips of d columns.

    Args:
        attention: takes key, query, value and mask, as BertSelfAttention.attention does.
        key, query: (B, H, T, d); mask: (B, 1, 1, T), to be added to scores.

    Returns: (B, H, T, T): query token, key token.

    Raises:
        ValueError: it returns a tensor of the wrong shape.
    """
    B, H, T, d = key.shape
    strips = []
    for identity in torch.eye(T, dtype=key.dtype).split(d, dim=1):
        value = torch.zeros_like(key)
        value[..., : identity.shape[1]] = identity  # (B, H, T, d)
        mixed = attention(key, query, value, mask)
        if not isinstance(mixed, Tensor) or mixed.shape != (B, T, H * d):
            got = tuple(mixed.shape) if isinstance(mixed, Tensor) else type(mixed).__name__
            raise ValueError(f"attention should return shape {(B, T, H * d)}, got {got}")
        strips.append(mixed.view(B, T, H, d).transpose(1, 2)[..., : identity.shape[1]])
    return torch.cat(strips, dim=-1)  # (B, H, T, T)


@contextlib.contextmanager
def watched(model: BertModel) -> Iterator[list[Tensor]]:
    """Record the probabilities of every layer while the model runs; its output is unchanged."""
    maps: list[Tensor] = []
    parts = [layer.self_attention for layer in model.bert_layers]

    def watch(attention: Attention) -> Attention:
        def watching(key: Tensor, query: Tensor, value: Tensor, attention_mask: Tensor) -> Tensor:
            maps.append(probabilities(attention, key, query, attention_mask))
            return attention(key, query, value, attention_mask)

        return watching

    for part in parts:
        part.attention = watch(part.attention)  # shadows the method, in this object only
    try:
        yield maps
    finally:
        for part in parts:
            del part.attention


@torch.no_grad()
def attention_maps(model: BertModel, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    """Run the model on one sentence, (1, T), and return (layers, H, T, T) probabilities."""
    with watched(model) as maps:
        model(input_ids, attention_mask)
    return torch.cat(maps)


@torch.no_grad()
def guess(
    model: nn.Module, tokenizer: BertTokenizer, sentence: str
) -> tuple[list[str], list[float]]:
    """Return the most likely tokens for the one [MASK] of a sentence, and their probabilities.

    Args:
        model: a BertForPreTraining.

    Raises:
        InputError: there is no [MASK] in it, or more than one.
    """
    batch, _ = encode(sentence, tokenizer, model.config.max_position_embeddings)
    hidden = batch["input_ids"] == tokenizer.mask_token_id  # (1, T)
    if hidden.sum() != 1:
        raise InputError(
            f"the sentence should have one [MASK], in capitals, but has {int(hidden.sum())}"
        )
    logits, _ = model(**batch, chosen=hidden)  # (1, V)
    best = logits[0].softmax(dim=0).topk(GUESSES)
    names = [tokenizer.tokenizer.id_to_token(number) for number in best.indices.tolist()]
    return names, best.values.tolist()
