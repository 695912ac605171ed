"""Sentences as vectors: what BERT's [CLS] makes of them, and how similar they are.

Dimension key: N sentences, B batch, T tokens, D model width.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from bert import BertModel
from progress import progress
from sentences import Split, by_length, take


class Neighbours(NamedTuple):
    """Sentences near another one.

    Attributes:
        nearest: sentence, cosine, label, and where it stands in another order, in words.
        cosines, labels: (N,) each, of all sentences.
    """

    nearest: Sequence[tuple[str, float, int, str]]
    cosines: Tensor
    labels: Tensor


@torch.no_grad()
def cls_vectors(model: BertModel, split: Split, what: str = "reading sentences") -> Tensor:
    """Return the last layer's vector of [CLS] for each sentence: (N, D).

    Args:
        what: is said while it takes long.
    """
    vectors = torch.zeros(len(split), model.config.hidden_size)
    batches = by_length(split.attention_mask, batch_size=32)
    for rows in progress(batches, len(batches), what):
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


def centred_cosines(vectors: Tensor, vector: Tensor) -> Tensor:
    """Return how nearly vectors point in the direction of one more: (N, D) and (D,) to (N,).

    The mean of all is subtracted first: what all vectors share says nothing about any.
    """
    centre = vectors.mean(dim=0)
    return torch.cosine_similarity(vectors - centre, vector - centre, dim=1)


def neighbours(
    cosines: Tensor, others: Tensor, split: Split, count: int, other_name: str
) -> Neighbours:
    """Return the `count` nearest sentences, the nearest first, with their ranks elsewhere.

    Args:
        cosines, others: (N,) each: nearness to the same sentence, here and elsewhere.
        other_name: what elsewhere is.
    """
    best = cosines.topk(min(count, len(cosines)))
    nearest = []
    for row, cosine in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        rank = int((others > others[row]).sum()) + 1
        where = f"{other_name}: {rank} of {len(cosines)}"
        nearest.append((split.sentences[row], cosine, int(split.labels[row]), where))
    return Neighbours(nearest, cosines, split.labels)
