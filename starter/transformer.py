"""More of "Attention Is All You Need" [1]: the norm, positions without learning, and the decoder.

Dimension key: B batch, T tokens of the target, S tokens of the source, D model width, H heads.

[1] Vaswani et al., "Attention Is All You Need", arXiv:1706.03762
[2] Xiong et al., "On Layer Normalization in the Transformer Architecture", arXiv:2002.04745
[3] Ba, Kiros and Hinton, "Layer Normalization", arXiv:1607.06450
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bert import BertSelfAttention

HIDDEN = -10000.0  # what a mask adds to the score of a token that is hidden


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, eps: float = 1e-12) -> Tensor:
    """Give each vector mean 0 and variance 1, then scale and shift it: section 3 of [3].

        y = gain * (x - mean) / sqrt(variance + eps) + bias

    Args:
        x: (..., D), with any number of axes; it is not changed.
        gain: (D,); bias: (D,).
        eps: added to the variance; it keeps the division finite where all units are equal.

    Returns: (..., D), in the type of x.
    """
    # TODO(layer_norm): the mean and the variance of each vector, over the last axis; then the
    # formula. See handout/extensions.md, Problem (layer_norm).
    raise NotImplementedError("layer_norm")


def sinusoidal_positions(length: int, width: int) -> Tensor:
    """Return the table of positions of section 3.5 of [1].

        table[pos, 2i]     = sin(pos / 10000^(2i / width))
        table[pos, 2i + 1] = cos(pos / 10000^(2i / width))

    Args:
        length: positions 0 ... length - 1.
        width: an even number.

    Returns: (length, width), in torch's default type.
    """
    # TODO(sinusoidal_positions): angles, one for each position and pair of columns; then sines in
    # the even columns and cosines in the odd ones.
    # See handout/extensions.md, Problem (sinusoidal_positions).
    raise NotImplementedError("sinusoidal_positions")


def causal_mask(attention_mask: Tensor) -> Tensor:
    """Return the mask of a decoder's self-attention: it hides padding and all later tokens.

    Args:
        attention_mask: (B, T), 1 for a token, 0 for padding.

    Returns: (B, 1, T, T), to be added to the scores: 0 where the token of the row may look at the
        token of the column, HIDDEN where it may not; in torch's default type. Each token may look
        at itself and at earlier tokens that are not padding; so may padding.
    """
    # TODO(causal_mask): combine both conditions, then write 0 or HIDDEN.
    # See handout/extensions.md, Problem (causal_mask).
    raise NotImplementedError("causal_mask")


class MultiHeadAttention(BertSelfAttention):
    """Attention of one sequence over another, or over itself, with your `attention`; given."""

    def __init__(self, config) -> None:
        super().__init__(config)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(0.0)  # [1] drops nothing of the probabilities

    def forward(self, states: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """Let each of `states` attend to `memory`.

        Args:
            states: (B, T, D), for the queries; memory: (B, S, D), for the keys and values.
            mask: added to the scores: (B, 1, T, S), or (B, 1, 1, S) if it is the same for all.

        Returns: (B, T, D).
        """
        T, S = states.shape[1], memory.shape[1]
        L = max(T, S)  # `attention` takes as many queries as keys: fill up, and hide what is added
        states, memory = (F.pad(x, (0, 0, 0, L - x.shape[1])) for x in (states, memory))
        rows = L - T if mask.shape[2] == T else 0
        mask = F.pad(mask, (0, L - S, 0, rows), value=2 * HIDDEN)
        key, value = self.transform(memory, self.key), self.transform(memory, self.value)
        mixed = self.attention(key, self.transform(states, self.query), value, mask)
        return self.dense(mixed[:, :T])


class DecoderLayer(nn.Module):
    """One layer of the decoder: figure 1 (right) of [1], or the pre-norm order of [2]."""

    def __init__(self, config, pre_norm: bool = False) -> None:
        super().__init__()
        D, eps = config.hidden_size, config.layer_norm_eps
        self.pre_norm = pre_norm
        self.self_attention = MultiHeadAttention(config)
        self.self_norm = nn.LayerNorm(D, eps=eps)
        self.cross_attention = MultiHeadAttention(config)
        self.cross_norm = nn.LayerNorm(D, eps=eps)
        self.wide = nn.Linear(D, config.intermediate_size)
        self.narrow = nn.Linear(config.intermediate_size, D)
        self.feed_norm = nn.LayerNorm(D, eps=eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def feed_forward(self, states: Tensor) -> Tensor:
        """Process each token separately: (B, T, D) -> (B, T, D); given."""
        return self.narrow(F.relu(self.wide(states)))

    def forward(
        self, states: Tensor, encoded: Tensor, self_mask: Tensor, cross_mask: Tensor
    ) -> Tensor:
        """Run the three sublayers, each with its own norm, dropout and residual.

        With a sublayer f and its norm, post-norm is norm(x + dropout(f(x))), and pre-norm is
        x + dropout(f(norm(x))); in both, `encoded` is not normalized.

        Args:
            states: (B, T, D), of the target.
            encoded: (B, S, D), the encoder's output.
            self_mask: (B, 1, T, T), as `causal_mask` returns it.
            cross_mask: (B, 1, 1, S), 0 for a token of the source and HIDDEN for padding.

        Returns: (B, T, D).
        """
        # TODO(decoder_layer): masked self-attention, attention over the encoder's output, the
        # feed-forward part; in either order of norm.
        # See handout/extensions.md, Problem (decoder_layer).
        raise NotImplementedError("decoder_layer")
