"""Probes shared by several exercises, besides the toolkit's."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tensormark.toolkit import Sizes, Tensors, probe
from tensormark.toolkit.dropout import RATE, Dropout
from tensormark.toolkit.probes import Case
from tensormark.toolkit.seeds import Seeded


def padding_around(what: str, sizes: Sizes, **fields: Any) -> Case:
    """Probe padding before the tokens and, in every row, after them."""
    says = f"{what} is wrong where there is padding before the tokens, or in every row"
    name = "padding around"
    return probe(name, "properties", says, inputs=name, sizes=sizes, **fields)


def small_numbers(what: str) -> Case:
    """Probe inputs that expose the constant that is added to a variance."""
    says = f"{what} is wrong where the variance is small"
    return probe("small numbers", "properties", says, inputs="quiet", dtype="float64")


def without_dropout(what: str) -> Case:
    """Probe training mode, for a part without dropout."""
    says = f"{what} has no dropout: training should give the same result as eval"
    return probe("training", "properties", says, train=True)


def seeds(what: str, **fields: Any) -> Case:
    """Probe how a function uses the generator that it is given."""
    says = f"{what} should depend on the generator that it is given, and on no other"
    return probe("generator", "properties", says, kind="seeds", examine=Seeded(says), **fields)


def misplaced_dropout(name: str, examine: Dropout, **fields: Any) -> Case:
    """Probe where dropout is applied in training, by random draws."""
    says = "dropout in training is in the wrong place"
    fields = {"train": True, "twice": True, **fields}
    return probe(name, "training", says, rate=RATE, examine=examine, **fields)


def dropout_pattern(
    place: str,
    sizes: Sizes,
    count: int,
    measure: Callable[[Tensors, Tensors], np.ndarray],
    dropped: Callable[[Tensors, Tensors], np.ndarray],
) -> tuple[Case, Case]:
    """Probe which values training drops, and that eval drops none.

    Args:
        place: what should be dropped, in words.
        sizes: of the inputs "pattern".
        count: of the values that may be dropped.
        measure, dropped: `measure` and `values` of the toolkit's Dropout.
    """
    training = Dropout(place, RATE, count, measure, dropped)
    evaluation = Dropout(place, 0.0, count, measure)
    fields: dict[str, Any] = {"inputs": "pattern", "sizes": sizes}
    says = "dropout is active in eval mode"
    return (
        misplaced_dropout("dropout pattern", training, **fields),
        probe("pattern in eval", "values", says, rate=RATE, examine=evaluation, **fields),
    )
