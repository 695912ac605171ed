"""Random weights that expose mistakes, for `draw` of an exercise."""

import numpy as np

from tensormark.exercise import Tensors


def dense(rng: np.random.Generator, name: str, width_in: int, width_out: int) -> Tensors:
    """Draw a dense layer that keeps the scale of its input; its bias is far from zero."""
    return {
        f"{name}.weight": rng.standard_normal((width_out, width_in)) / np.sqrt(width_in),
        f"{name}.bias": 0.5 * rng.standard_normal(width_out),
    }


def norm(rng: np.random.Generator, name: str, width: int) -> Tensors:
    """Draw a LayerNorm that is far from the identity."""
    return {
        f"{name}.weight": 1.0 + 0.3 * rng.standard_normal(width),
        f"{name}.bias": 0.5 * rng.standard_normal(width),
    }


def identity_norm(name: str, width: int) -> Tensors:
    """Return a LayerNorm that only normalizes."""
    return {f"{name}.weight": np.ones(width), f"{name}.bias": np.zeros(width)}


def as_weights(weights: Tensors) -> Tensors:
    """Rename parameters to the names that weights have in a call: weights/<parameter>."""
    return {f"weights/{name}": value for name, value in weights.items()}
