"""Inputs that expose mistakes: random weights, hidden states, ids and masks with padding.

Everything is drawn in float64 by numpy and stored in the references, so nothing is drawn twice.

Dimension key: B batch, T tokens, D model width, F feed-forward width, V vocabulary.
"""

import numpy as np

from tensormark.toolkit import Call, Sizes, Tensors
from tensormark.toolkit.draws import dense, norm

MASKED = -10000.0  # what get_extended_attention_mask returns for padding


def no_inputs(rng: np.random.Generator, call: Call) -> Tensors:
    """Return nothing, for a call whose arguments are literals."""
    return {}


def mask(sizes: Sizes) -> np.ndarray:
    """Return the 1/0 mask (B, T) of the rows' lengths, int64 as the tokenizer returns it."""
    return (np.arange(sizes.T) < np.array(sizes.lengths)[:, None]).astype(np.int64)


def extended_mask(sizes: Sizes) -> np.ndarray:
    """Return the additive mask (B, 1, 1, T)."""
    hidden: np.ndarray = np.where(mask(sizes) > 0, 0.0, MASKED)
    return hidden[:, None, None, :]


def attention_weights(rng: np.random.Generator, sizes: Sizes, prefix: str = "") -> Tensors:
    """Draw the three projections of a BertSelfAttention."""
    weights: Tensors = {}
    for name in ("query", "key", "value"):
        weights |= dense(rng, prefix + name, sizes.D, sizes.D)
    return weights


def layer_weights(rng: np.random.Generator, sizes: Sizes, prefix: str = "") -> Tensors:
    """Draw the weights of a BertLayer."""
    D, F = sizes.D, sizes.F
    return {
        **attention_weights(rng, sizes, f"{prefix}self_attention."),
        **dense(rng, f"{prefix}attention_dense", D, D),
        **norm(rng, f"{prefix}attention_layer_norm", D),
        **dense(rng, f"{prefix}interm_dense", D, F),
        **dense(rng, f"{prefix}out_dense", F, D),
        **norm(rng, f"{prefix}out_layer_norm", D),
    }


def model_weights(rng: np.random.Generator, sizes: Sizes) -> Tensors:
    """Draw the weights of a BertModel."""
    D = sizes.D
    weights = {
        "word_embedding.weight": rng.standard_normal((sizes.V, D)),
        "pos_embedding.weight": rng.standard_normal((sizes.positions, D)),
        "tk_type_embedding.weight": rng.standard_normal((2, D)),
        **norm(rng, "embed_layer_norm", D),
        **dense(rng, "pooler_dense", D, D),
    }
    for index in range(sizes.layers):
        weights |= layer_weights(rng, sizes, f"bert_layers.{index}.")
    return weights


def hidden_states(rng: np.random.Generator, sizes: Sizes) -> np.ndarray:
    """Draw (B, T, D), padding included: its contents must not matter."""
    return np.asarray(rng.standard_normal((sizes.B, sizes.T, sizes.D)))


def earlier(inputs: Tensors) -> Tensors:
    """Return the inputs of a call before: the same rows in reverse order."""
    return {f"before/{name}": np.flip(value, axis=0).copy() for name, value in inputs.items()}


def token_ids(rng: np.random.Generator, sizes: Sizes, vocabulary: int) -> np.ndarray:
    """Draw ids (B, T) without repeats in a row, 0 (padding) after each row's length."""
    rows = [1 + rng.permutation(vocabulary - 1)[: sizes.T] for _ in range(sizes.B)]
    return np.asarray(np.array(rows) * mask(sizes))
