"""The tensors of replies, and whether they are the same.

A difference close to rounding is neither: the finding is None, and nothing is asked about it.
"""

import dataclasses
import math
from collections.abc import Iterable

import numpy as np

from tensormark.exercise import Tensors
from tensormark.sandbox.interface import Reply
from tensormark.viva.copies import Run

MAX_EQUAL, MIN_DIFFERENT = 3e-6, 1e-3  # limits on differences of numbers around 1, in float64
MAX_VALUES = 100_000  # of one tensor


def tensors_of(reply: Reply, prefix: str = "out/") -> Tensors:
    """Return the outputs, or other tensors, of a reply; NaN for a tensor that is too large."""
    return {
        name: value.astype(np.float64) if value.size <= MAX_VALUES else np.array(math.nan)
        for name, value in reply.tensors.items()
        if name.startswith(prefix)
    }


def trimmed(reply: Reply, run: Run) -> Reply:
    """Return the part of a reply that is compared, without tensors that are too large.

    The reply of a call that changed its inputs counts as lost, because its effect on a caller is
    not examined. So does that of a text that is not valid Python.
    """
    if reply.text.startswith("raised SyntaxError"):
        return Reply("lost", "is not Python")
    tensors = tensors_of(reply) | tensors_of(reply, "grad/")
    for name, value in tensors_of(reply, "after/").items():
        sent = run.inputs.get(name.removeprefix("after/"))
        if sent is not None and (value.shape != sent.shape or not np.allclose(value, sent)):
            return Reply("lost", "changes its inputs")
    return dataclasses.replace(reply, tensors=tensors, message={})


def output_of(reply: Reply) -> np.ndarray:
    """Return the first output of a reply; NaN if there is none."""
    return next(iter(tensors_of(reply).values()), np.array(math.nan))


def vanishes(differences: np.ndarray, scale: float = 1.0, coarseness: float = 1.0) -> bool | None:
    """Return whether differences are zero; None if close to rounding, not finite or empty.

    Args:
        scale: of the values that were subtracted.
        coarseness: factor on the limits of float64.
    """
    if differences.size == 0:
        return None
    largest = float(np.abs(differences).max()) / max(1.0, scale) / coarseness
    if not math.isfinite(largest):
        return None
    return True if largest <= MAX_EQUAL else False if largest >= MIN_DIFFERENT else None


def all_of(findings: Iterable[bool | None]) -> bool | None:
    """Return whether all hold; None if that cannot be told."""
    values = list(findings)
    return False if False in values else None if None in values else True


def equal(first: Tensors, second: Tensors, coarseness: float = 1.0) -> bool | None:
    """Return whether tensors of the same names are equal; None if that cannot be told."""
    if first.keys() != second.keys() or any(first[n].shape != second[n].shape for n in first):
        return False
    scales = {name: float(np.abs(value).max(initial=0.0)) for name, value in first.items()}
    return all_of(vanishes(first[n] - second[n], scales[n], coarseness) for n in first)
