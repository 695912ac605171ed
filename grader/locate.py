"""Where an output (B, T, D) is wrong, for a mistake that has no name.

Dimension key: B batch, T tokens, D model width.
"""

import numpy as np

from tensormark.exercise import Tensors
from tensormark.toolkit.places import locator

AXES = {1: ("unit",), 2: ("row", "unit"), 3: ("row", "token", "unit")}


def padding_of(inputs: Tensors) -> np.ndarray | None:
    """Return (B, T), true where the inputs of a call have no token; None if unknown."""
    if "input_ids" in inputs:
        return np.asarray(inputs["input_ids"] == 0)
    if "attention_mask" in inputs:
        mask = inputs["attention_mask"]
        return np.asarray(mask[:, 0, 0] < 0 if mask.ndim == 4 else mask == 0)
    return None


locate = locator({3: AXES[3]}, padding_of, among=2)  # by row and token, not by unit
