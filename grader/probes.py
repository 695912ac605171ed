"""Probes shared by several exercises, besides the toolkit's."""

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.model import MAIN
from tensormark.toolkit import Sizes, Tensors, probe
from tensormark.toolkit.dropout import ANCHORS, RATE, Dropout, numbers, undone
from tensormark.toolkit.probes import Case
from tensormark.toolkit.seeds import Seeded

Measure = Callable[[Tensors, Tensors], np.ndarray]  # of outputs and inputs

# of inputs that show what is dropped before a residual is added, and how many values may be dropped
RESIDUAL = MAIN | {"B": 8, "T": 8, "d": 11, "D": 22, "lengths": (8,) * 8}
DROPOUT_CANDIDATES = RESIDUAL.B * RESIDUAL.T * (RESIDUAL.D - len(ANCHORS))


def added_to(name: str) -> Measure:
    """Return what finds what was added to this input: 0 where it was dropped."""
    return lambda outputs, inputs: undone(outputs["output"], inputs[name])


def counting(dropped: Measure) -> Measure:
    """Return what computes the statistics `kept`, `factor`, `broken` and `zero` of dropout.py."""
    return lambda outputs, inputs: numbers(dropped(outputs, inputs))


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
    place: str, sizes: Sizes, count: int, measure: Measure, dropped: Measure
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
