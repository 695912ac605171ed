"""BERT [1]: an encoder in which every token attends to every other token.

Dimension key: B batch, T tokens, D model width, H heads, d head width (D = H * d),
F feed-forward width, V vocabulary.

The names of classes, methods and attributes are fixed by the published minBERT scaffold and by
the keys of the checkpoint; parameters are loaded by these names.

[1] Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", arXiv:1810.04805
[2] Vaswani et al., "Attention Is All You Need", arXiv:1706.03762
[3] Hendrycks and Gimpel, "Gaussian Error Linear Units", arXiv:1606.08415
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from base_bert import BertPreTrainedModel
from utils import get_extended_attention_mask


class BertSelfAttention(nn.Module):
    """Multi-head self-attention: section 3.2 of [2]."""

    def __init__(self, config):
        super().__init__()
        self.num_attention_heads = config.num_attention_heads
        self.attention_head_size = config.hidden_size // config.num_attention_heads
        self.all_head_size = self.num_attention_heads * self.attention_head_size

        self.query = nn.Linear(config.hidden_size, self.all_head_size)
        self.key = nn.Linear(config.hidden_size, self.all_head_size)
        self.value = nn.Linear(config.hidden_size, self.all_head_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)  # for the probabilities

    def transform(self, x: Tensor, linear_layer: nn.Linear) -> Tensor:
        """Project `x` (B, T, D) and split the result into heads: (B, H, T, d)."""
        B, T, _ = x.shape
        x = linear_layer(x).view(B, T, self.num_attention_heads, self.attention_head_size)
        return x.transpose(1, 2)  # (B, H, T, d)

    def attention(self, key: Tensor, query: Tensor, value: Tensor, attention_mask) -> Tensor:
        """Give every token the weighted mean of the values of the tokens it attends to.

        Equation (1) of [2]: softmax(Q K^T / sqrt(d) + mask) V, separately for each head.

        Args:
            key, query, value: (B, H, T, d) each.
            attention_mask: (B, 1, 1, T), 0 for a token, -10000 for padding: to be added to scores.

        Returns: (B, T, D), the heads of a token side by side.
        """
        # TODO(attention): scores, scale, mask, softmax, dropout on the attention probabilities
        # (self.dropout), values, heads side by side. See handout.md, Problem (attention).
        ### BEGIN SOLUTION attention
        B, H, T, d = query.shape
        # (B, H, T, d) @ (B, H, d, T) -> (B, H, T, T)
        scores = query @ key.transpose(-2, -1) / math.sqrt(d)
        probs = self.dropout(F.softmax(scores + attention_mask, dim=-1))
        # (B, H, T, T) @ (B, H, T, d) -> (B, H, T, d)
        context = probs @ value
        return context.transpose(1, 2).reshape(B, T, H * d)  # (B, T, D)
        ### END SOLUTION attention

    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """Attend within `hidden_states` (B, T, D), with the mask of `attention`: (B, T, D)."""
        key = self.transform(hidden_states, self.key)
        value = self.transform(hidden_states, self.value)
        query = self.transform(hidden_states, self.query)
        return self.attention(key, query, value, attention_mask)


class BertLayer(nn.Module):
    """One encoder layer: attention, then a feed-forward part, each followed by an add-and-norm."""

    def __init__(self, config):
        super().__init__()
        self.self_attention = BertSelfAttention(config)
        self.attention_dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.attention_layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.attention_dropout = nn.Dropout(config.hidden_dropout_prob)
        self.interm_dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.interm_af = F.gelu  # the exact form, with the error function [3]
        self.out_dense = nn.Linear(config.intermediate_size, config.hidden_size)
        self.out_layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.out_dropout = nn.Dropout(config.hidden_dropout_prob)

    def add_norm(self, input: Tensor, output: Tensor, dense_layer, dropout, ln_layer) -> Tensor:
        """Finish a sublayer: project its output, add its input, normalize.

        Section 5.4 of [2]: LayerNorm(input + Dropout(Dense(output))).

        Args:
            input: (B, T, D), the input of the sublayer.
            output: (B, T, D or F), its output.
            dense_layer, dropout, ln_layer: the modules to use; the dense layer maps to width D.

        Returns: (B, T, D).
        """
        # TODO(add_norm): project, dropout, add, normalize, with the modules passed in.
        # See handout.md, Problem (add_norm).
        ### BEGIN SOLUTION add_norm
        return ln_layer(input + dropout(dense_layer(output)))
        ### END SOLUTION add_norm

    def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """Run one encoder layer: figure 1 (left) of [2], with GELU [3] in the feed-forward part.

        Args: hidden_states (B, T, D); attention_mask (B, 1, 1, T), as in `attention`.

        Returns: (B, T, D).
        """
        # TODO(layer): attention and its add_norm, then the feed-forward part and its add_norm,
        # each with its own dense layer, dropout and norm. See handout.md, Problem (layer).
        ### BEGIN SOLUTION layer
        x, context = hidden_states, self.self_attention(hidden_states, attention_mask)
        modules = self.attention_dense, self.attention_dropout, self.attention_layer_norm
        x = self.add_norm(x, context, *modules)
        interm = self.interm_af(self.interm_dense(x))  # (B, T, F)
        modules = self.out_dense, self.out_dropout, self.out_layer_norm
        return self.add_norm(x, interm, *modules)  # (B, T, D)
        ### END SOLUTION layer


class BertModel(BertPreTrainedModel):
    """Token ids in, one vector per token and one per sentence out."""

    def __init__(self, config):
        super().__init__(config)
        self.config = config
        D = config.hidden_size

        self.word_embedding = nn.Embedding(config.vocab_size, D, padding_idx=config.pad_token_id)
        self.pos_embedding = nn.Embedding(config.max_position_embeddings, D)
        self.tk_type_embedding = nn.Embedding(config.type_vocab_size, D)
        self.embed_layer_norm = nn.LayerNorm(D, eps=config.layer_norm_eps)
        self.embed_dropout = nn.Dropout(config.hidden_dropout_prob)
        positions = torch.arange(config.max_position_embeddings).unsqueeze(0)
        self.register_buffer("position_ids", positions, persistent=False)  # (1, max_position)

        self.bert_layers = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))

        self.pooler_dense = nn.Linear(D, D)
        self.pooler_af = nn.Tanh()
        self.init_weights()

    def embed(self, input_ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:
        """Give each token the sum of its word, position and token-type embedding.

        Figure 2 of [1], then LayerNorm, then dropout.

        Args:
            input_ids: (B, T), int64.
            token_type_ids: (B, T), int64, 0 in the first sentence and 1 in the second; None: all 0.

        Returns: (B, T, D).
        """
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        # TODO(embed): three embeddings, their sum, norm, dropout. See handout.md, Problem (embed).
        ### BEGIN SOLUTION embed
        words = self.word_embedding(input_ids)  # (B, T, D)
        positions = self.pos_embedding(self.position_ids[:, : input_ids.shape[1]])  # (1, T, D)
        token_types = self.tk_type_embedding(token_type_ids)  # (B, T, D)
        return self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
        ### END SOLUTION embed

    def encode(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        """Pass the embedded tokens through every layer in turn.

        Args:
            hidden_states: (B, T, D), from `embed`.
            attention_mask: (B, T), 1 for a token and 0 for padding; the layers need it as
                returned by `get_extended_attention_mask`.

        Returns: (B, T, D), the last layer's output.
        """
        # TODO(encode): extend the mask once, chain the layers. See handout.md, Problem (encode).
        ### BEGIN SOLUTION encode
        extended_mask = get_extended_attention_mask(attention_mask, self.dtype)  # (B, 1, 1, T)
        for layer in self.bert_layers:
            hidden_states = layer(hidden_states, extended_mask)
        return hidden_states
        ### END SOLUTION encode

    def forward(self, input_ids, attention_mask, token_type_ids=None) -> dict[str, Tensor]:
        """Read a batch of sentences: (B, T) ids, masks and token types as in `embed` and `encode`.

        Returns:
            last_hidden_state: (B, T, D), one vector per token.
            pooler_output: (B, D), one per sentence: [CLS]'s, through a dense layer and tanh.
        """
        hidden_states = self.embed(input_ids, token_type_ids)
        hidden_states = self.encode(hidden_states, attention_mask)
        pooled = self.pooler_af(self.pooler_dense(hidden_states[:, 0]))  # (B, D)
        return {"last_hidden_state": hidden_states, "pooler_output": pooled}
