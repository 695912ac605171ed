"""Where an output (B, T, D) is wrong, if the mistake has no name.

Dimension key: B batch, T tokens, D model width.
"""

import numpy as np

from grader.exercise import Tensors

AXES = {1: ("unit",), 2: ("row", "unit"), 3: ("row", "token", "unit")}


def ratio(got: np.ndarray, expected: np.ndarray) -> float | None:
    """Return the constant factor between two arrays, if there is one other than 0."""
    total = float((expected * expected).sum())
    factor = float((got * expected).sum()) / total if total else 0.0
    fits = np.allclose(got, factor * expected, rtol=1e-3, atol=1e-4)
    return factor if fits and abs(factor) > 1e-3 else None


def moved(got: np.ndarray, expected: np.ndarray) -> str | None:
    """Say whether the right values are in the wrong places."""
    if np.allclose(np.sort(got, axis=-1), np.sort(expected, axis=-1), rtol=1e-3, atol=1e-4):
        return "each token has the right values, but its units are in the wrong order"
    if np.allclose(np.sort(got.ravel()), np.sort(expected.ravel()), rtol=1e-3, atol=1e-4):
        return "all the right values are there, but in the wrong places: check the order of axes"
    return None


def locate_among(got: np.ndarray, expected: np.ndarray, padding: np.ndarray | None) -> str | None:
    """Say in one line where, or by what, an array (B, T, D) is wrong; None if unclear.

    Whoever knows their own values must not learn from it what is expected.

    Args:
        padding: (B, T), true where there is no token.
    """
    if got.shape != expected.shape:
        same = sorted(got.shape) == sorted(expected.shape) or got.size == expected.size
        return "the number of values is right: check the order of axes" if same else None
    if got.ndim != 3 or not np.isfinite(got).all():
        return None
    if factor := ratio(got, expected):
        return f"every value is {factor:.3g} times the expected one"
    if np.ptp(got - expected) < 1e-4 * (1.0 + np.abs(expected).max()):
        return "every value is off by the same amount"
    if moves := moved(got, expected):
        return moves
    wrong = ~np.isclose(got, expected, rtol=1e-3, atol=1e-4).all(-1)  # (B, T)
    if padding is not None and padding.any() and not padding.all():
        if (wrong <= padding).all():
            return "only padding is wrong"
        if (wrong <= ~padding).all() and len(wrong) > 1:
            return "only tokens are wrong; padding is right"
        full = ~padding.any(1)
        if full.any() and not wrong[full].any():
            return "only rows that have padding are wrong"
    return by_place(wrong)


def by_place(wrong: np.ndarray) -> str | None:
    """Say which rows or tokens (B, T) are wrong, unless all of them are."""
    rows, tokens = np.asarray(wrong.any(1)), np.asarray(wrong.any(0))
    if rows[0] and not rows[1:].any() and len(rows) > 1:
        return "only row 0 of the batch is wrong"
    if len(rows) > 1 and not rows[0] and rows[1:].all():
        return "row 0 of the batch is right; the others are wrong"
    if tokens.any() and not tokens.all():
        first = int(np.argmax(tokens))
        if tokens[first:].all():
            return f"only tokens from number {first} on are wrong"
        if int(tokens.sum()) == 1:
            return f"only token {first} of each row is wrong"
    return None


def padding_of(inputs: Tensors) -> np.ndarray | None:
    """Return (B, T), true where the inputs of a call have no token; None if they do not show it."""
    if "input_ids" in inputs:
        return np.asarray(inputs["input_ids"] == 0)
    if "attention_mask" in inputs:
        mask = inputs["attention_mask"]
        return np.asarray(mask[:, 0, 0] < 0 if mask.ndim == 4 else mask == 0)
    return None


def locate(got: np.ndarray, expected: np.ndarray, inputs: Tensors) -> str | None:
    """Say in a few words where, or by what, an output is wrong; None if unclear."""
    return locate_among(got, expected, padding_of(inputs))
