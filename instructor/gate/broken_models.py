"""Models with a mistake: does the sentiment gate detect it, or only the checks of tensors?

Each function here breaks a correct BertModel in place, as a wrong solution would. They are used to
measure the gate (instructor.gate.measure), never to grade.

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
Attend = Callable[[Tensor, Tensor, Tensor, Tensor, nn.Module], Tensor]


class Nothing(nn.Module):
    """Replaces an embedding table: zeros for every id."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, ids: Tensor) -> Tensor:
        """Return zeros (..., D) for ids (...)."""
        return torch.zeros(*ids.shape, self.width, device=ids.device)


def _merge_heads(context: Tensor) -> Tensor:
    """Put the heads side by side: (B, H, T, d) to (B, T, D)."""
    return context.transpose(1, 2).flatten(2)


def _set_attention(bert: Bert, attend: Attend) -> None:
    """Make layers use `attend(query, key, value, mask, dropout)`, which returns (B, H, T, d)."""
    for layer in bert.bert_layers:
        inner = layer.self_attention

        def attention(
            key: Tensor, query: Tensor, value: Tensor, mask: Tensor, inner: Any = inner
        ) -> Tensor:
            return _merge_heads(attend(query, key, value, mask, inner.dropout))

        inner.attention = attention


def _scores(query: Tensor, key: Tensor) -> Tensor:
    """Compare every query with every key: (B, H, T, T)."""
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def _set_scores(
    bert: Bert, scores: Callable[[Tensor, Tensor, Tensor], Tensor], axis: int = -1
) -> None:
    """Make every layer attend by `scores(query, key, mask)`, (B, H, T, T), with a softmax."""

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, dropout: nn.Module) -> Tensor:
        probs: Tensor = dropout(F.softmax(scores(q, k, mask), dim=axis))
        return probs @ v

    _set_attention(bert, attend)


def ignore_mask(bert: Bert) -> None:
    """Attend to padding as to words."""
    encode = bert.encode
    bert.encode = lambda hidden_states, mask: encode(hidden_states, torch.ones_like(mask))


def invert_mask(bert: Bert) -> None:
    """Hide the words and attend to the padding."""
    encode = bert.encode
    bert.encode = lambda hidden_states, mask: encode(hidden_states, 1 - mask)


def multiply_mask(bert: Bert) -> None:
    """Multiply the scores by the additive mask, which makes the score of every word 0."""
    _set_scores(bert, lambda q, k, mask: _scores(q, k) * mask)


def no_scale(bert: Bert) -> None:
    """Leave out the division by sqrt(d)."""
    _set_scores(bert, lambda q, k, mask: q @ k.transpose(-2, -1) + mask)


def softmax_over_queries(bert: Bert) -> None:
    """Normalize the scores over the wrong axis."""
    _set_scores(bert, lambda q, k, mask: _scores(q, k) + mask, axis=-2)


def heads_not_put_back(bert: Bert) -> None:
    """Reshape (B, H, T, d) to (B, T, D) without the transpose, so that tokens mix."""

    def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor, dropout: nn.Module) -> Tensor:
        B, H, T, d = q.shape
        context: Tensor = dropout(F.softmax(_scores(q, k) + mask, dim=-1)) @ v
        return context.reshape(B, T, H, d).transpose(1, 2)  # what merge_heads undoes

    _set_attention(bert, attend)


def zero_context(bert: Bert) -> None:
    """Make attention return 0 everywhere."""
    _set_attention(bert, lambda q, k, v, mask, dropout: torch.zeros_like(v))


def average_values(bert: Bert) -> None:
    """Attend equally to all words."""
    _set_scores(bert, lambda q, k, mask: 0.0 * _scores(q, k) + mask)


def no_positions(bert: Bert) -> None:
    """Leave out the position embedding."""
    bert.pos_embedding = Nothing(bert.config.hidden_size)


def no_token_types(bert: Bert) -> None:
    """Leave out the token-type embedding."""
    bert.tk_type_embedding = Nothing(bert.config.hidden_size)


def no_residual(bert: Bert) -> None:
    """Leave out the residual in both sublayers."""
    for layer in bert.bert_layers:
        layer.add_norm = lambda x, output, dense, dropout, norm: norm(dropout(dense(output)))


def residual_after_norm(bert: Bert) -> None:
    """Add the residual after the LayerNorm instead of before it."""
    for layer in bert.bert_layers:
        layer.add_norm = lambda x, output, dense, dropout, norm: x + norm(dropout(dense(output)))


def no_layer_norm(bert: Bert) -> None:
    """Leave out every LayerNorm."""
    bert.embed_layer_norm = nn.Identity()
    for layer in bert.bert_layers:
        layer.attention_layer_norm = layer.out_layer_norm = nn.Identity()


def no_gelu(bert: Bert) -> None:
    """Leave out the activation of the feed-forward part."""
    for layer in bert.bert_layers:
        layer.interm_af = nn.Identity()


def no_dropout(bert: Bert) -> None:
    """Leave out every dropout of the model."""
    for module in bert.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0


def no_attention_dropout(bert: Bert) -> None:
    """Leave out the dropout on the attention probabilities, as half of all students do."""
    for layer in bert.bert_layers:
        layer.self_attention.dropout.p = 0.0


def random_weights(bert: Bert) -> None:
    """Discard the checkpoint's weights."""
    bert.init_weights()


def detached(bert: Bert) -> None:
    """Cut the gradient between the encoder and the classifier."""
    forward = bert.forward

    def without_gradient(*inputs: Tensor) -> dict[str, Tensor]:
        return {name: output.detach() for name, output in forward(*inputs).items()}

    bert.forward = without_gradient


def one_layer(bert: Bert) -> None:
    """Run only the first layer."""
    bert.bert_layers = bert.bert_layers[:1]


def layers_reversed(bert: Bert) -> None:
    """Run the layers from the last to the first."""
    bert.bert_layers = nn.ModuleList(reversed(bert.bert_layers))


BROKEN: dict[str, Callable[[Bert], None]] = {
    breaks.__name__: breaks
    for breaks in (
        ignore_mask,
        invert_mask,
        multiply_mask,
        no_scale,
        softmax_over_queries,
        heads_not_put_back,
        zero_context,
        average_values,
        no_positions,
        no_token_types,
        no_residual,
        residual_after_norm,
        no_layer_norm,
        no_gelu,
        no_dropout,
        no_attention_dropout,
        random_weights,
        detached,
        one_layer,
        layers_reversed,
    )
}
