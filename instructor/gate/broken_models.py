"""Models with a mistake: does the sentiment gate detect it, or only the checks of tensors?

Each function of BROKEN breaks a correct BertModel in place, as a wrong solution would. They are
used to measure the gate (instructor.gate.measure), never to grade.

Dimension key: B batch, T tokens, D model width, H heads, d head width (D = H * d).
"""

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# The solution's BertModel; solution/ has no type annotations.
Bert = Any
Breaks = Callable[[Bert], object]
Attend = Callable[[Tensor, Tensor, Tensor, Tensor, nn.Module], Tensor]


def _attending(attend: Attend) -> Breaks:
    """Make layers use `attend(query, key, value, mask, dropout)`, which returns (B, H, T, d)."""

    def breaks(bert: Bert) -> None:
        for layer in bert.bert_layers:
            inner = layer.self_attention

            def attention(
                key: Tensor, query: Tensor, value: Tensor, mask: Tensor, inner: Any = inner
            ) -> Tensor:
                context = attend(query, key, value, mask, inner.dropout)
                return context.transpose(1, 2).flatten(2)  # (B, T, D)

            inner.attention = attention

    return breaks


def _scores(query: Tensor, key: Tensor) -> Tensor:
    """Compare every query with every key: (B, H, T, T)."""
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def _scoring(scores: Callable[[Tensor, Tensor, Tensor], Tensor], axis: int = -1) -> Breaks:
    """Make layers attend by `scores(query, key, mask)`, (B, H, T, T), with a softmax."""
    return _attending(lambda q, k, v, mask, drop: drop(F.softmax(scores(q, k, mask), axis)) @ v)


def _heads_not_put_back(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor, dropout: nn.Module
) -> Tensor:
    B, H, T, d = q.shape
    context: Tensor = dropout(F.softmax(_scores(q, k) + mask, dim=-1)) @ v
    return context.reshape(B, T, H, d).transpose(1, 2)  # what _attending undoes


def _masking(change: Callable[[Tensor], Tensor]) -> Breaks:
    """Change the mask that `encode` gets."""

    def breaks(bert: Bert) -> None:
        encode = bert.encode
        bert.encode = lambda hidden_states, mask: encode(hidden_states, change(mask))

    return breaks


def _without(table: str) -> Breaks:
    """Leave out an embedding."""

    def breaks(bert: Bert) -> None:
        delattr(bert, table)
        setattr(bert, table, lambda ids: torch.zeros(*ids.shape, bert.config.hidden_size))

    return breaks


def _in_layers(**parts: Any) -> Breaks:
    """Replace parts of every layer."""

    def breaks(bert: Bert) -> None:
        for layer in bert.bert_layers:
            for name, part in parts.items():
                setattr(layer, name, part)

    return breaks


def _no_layer_norm(bert: Bert) -> None:
    bert.embed_layer_norm = nn.Identity()
    _in_layers(attention_layer_norm=nn.Identity(), out_layer_norm=nn.Identity())(bert)


def _no_dropout(model: nn.Module) -> None:
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0


def _no_attention_dropout(bert: Bert) -> None:
    for layer in bert.bert_layers:
        _no_dropout(layer.self_attention)


def _detached(bert: Bert) -> None:
    forward = bert.forward
    bert.forward = lambda *inputs: {
        name: output.detach() for name, output in forward(*inputs).items()
    }


def _layers(order: slice) -> Breaks:
    """Run some of the layers, or all of them in another order."""

    def breaks(bert: Bert) -> None:
        bert.bert_layers = nn.ModuleList(list(bert.bert_layers)[order])

    return breaks


BROKEN: dict[str, Breaks] = {
    "ignore_mask": _masking(torch.ones_like),
    "invert_mask": _masking(lambda mask: 1 - mask),
    # the mask is additive, so the score of every word becomes 0
    "multiply_mask": _scoring(lambda q, k, mask: _scores(q, k) * mask),
    "no_scale": _scoring(lambda q, k, mask: q @ k.transpose(-2, -1) + mask),
    "softmax_over_queries": _scoring(lambda q, k, mask: _scores(q, k) + mask, axis=-2),
    # (B, H, T, d) is reshaped to (B, T, D) without the transpose, so that tokens mix
    "heads_not_put_back": _attending(_heads_not_put_back),
    "zero_context": _attending(lambda q, k, v, mask, dropout: torch.zeros_like(v)),
    "average_values": _scoring(lambda q, k, mask: 0.0 * _scores(q, k) + mask),
    "no_positions": _without("pos_embedding"),
    "no_token_types": _without("tk_type_embedding"),
    "no_residual": _in_layers(add_norm=lambda x, out, dense, drop, norm: norm(drop(dense(out)))),
    "residual_after_norm": _in_layers(
        add_norm=lambda x, out, dense, drop, norm: x + norm(drop(dense(out)))
    ),
    "no_layer_norm": _no_layer_norm,
    "no_gelu": _in_layers(interm_af=nn.Identity()),
    "no_dropout": _no_dropout,
    "no_attention_dropout": _no_attention_dropout,  # as half of all students have it
    "random_weights": lambda bert: bert.init_weights(),
    "detached": _detached,  # the encoder gets no gradient from the classifier
    "one_layer": _layers(slice(1)),
    "layers_reversed": _layers(slice(None, None, -1)),
}
