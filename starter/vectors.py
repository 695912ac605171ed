"""Sentences as vectors: what BERT's [CLS] makes of them, and how similar they are.

Dimension key: N sentences, B batch, T tokens, D model width.
"""

import torch
from torch import Tensor

from bert import BertModel
from sentences import Split, by_length, take


@torch.no_grad()
def cls_vectors(model: BertModel, split: Split) -> Tensor:
    """Return the last layer's vector of [CLS] for each sentence: (N, D)."""
    vectors = torch.zeros(len(split), model.config.hidden_size)
    for rows in by_length(split.attention_mask, batch_size=32):
        batch = take(split.input_ids, split.attention_mask, rows, model.device)
        vectors[rows] = model(*batch)["last_hidden_state"][:, 0]
    return vectors


def project(vectors: Tensor) -> tuple[Tensor, float]:
    """Project (N, D) onto their two principal components.

    Returns: (N, 2), and the share of the variance that they explain.
    """
    centred = vectors - vectors.mean(dim=0)
    _, sizes, directions = torch.linalg.svd(centred, full_matrices=False)
    points = centred @ directions[:2].T  # (N, 2)
    largest = points.abs().argmax(dim=0)
    signs = points.gather(0, largest[None])[0].sign()  # the sign of a direction is arbitrary
    return points * signs, float((sizes[:2] ** 2).sum() / (sizes**2).sum())


def similarities(vectors: Tensor) -> Tensor:
    """Return the cosines of all pairs of vectors of (T, D): (T, T)."""
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    return unit @ unit.T


def nearest(vectors: Tensor, vector: Tensor, count: int) -> tuple[list[int], list[float]]:
    """Find the sentences whose vectors point most nearly in the same direction as one more.

    The mean of all is subtracted first: what all vectors share says nothing about any.

    Args:
        vectors: (N, D); vector: (D,).

    Returns: the numbers of `count` sentences, the nearest first, and their cosines.
    """
    centre = vectors.mean(dim=0)
    cosines = torch.cosine_similarity(vectors - centre, vector - centre, dim=1)  # (N,)
    best = cosines.topk(min(count, len(vectors)))
    return best.indices.tolist(), best.values.tolist()
