"""Points by their nearest center, and words by their first letter.

N points, D dimensions, K centers.
"""

import numpy as np


def nearest(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the number of each point's nearest center: (N, D), (K, D) -> (N,)."""
    # TODO(nearest): the squared distances of each point to all centers; then the smallest.
    ### BEGIN SOLUTION nearest
    distances = ((points[:, None] - centers) ** 2).sum(-1)  # (N, K)
    return distances.argmin(1)
    ### END SOLUTION nearest


def grouped(words: list[str]) -> dict[str, list[str]]:
    """Return words by their first letter, in their order.

    Raises:
        ValueError: a word is empty.
    """
    # TODO(grouped): go through the words, and add each to the list of its letter.
    ### BEGIN SOLUTION grouped
    groups: dict[str, list[str]] = {}
    for word in words:
        if not word:
            raise ValueError("an empty word")
        groups.setdefault(word[0], []).append(word)
    return groups
    ### END SOLUTION grouped
