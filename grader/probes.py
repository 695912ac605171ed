"""Probes shared by several exercises: the toolkit's, and others."""

from collections.abc import Callable

import numpy as np

from grader.model import BertCall
from tensormark.exercise import Examine, Probe, Tensors
from tensormark.toolkit.dropout import RATE, Dropout
from tensormark.toolkit.probes import misplaced_dropout, no_dropout, other_sizes, second_call
from tensormark.toolkit.seeds import Seeded

__all__ = [
    "dropout_pattern",
    "misplaced_dropout",
    "no_dropout",
    "other_sizes",
    "padding_around",
    "properties",
    "second_call",
    "seeds",
    "small_numbers",
    "values",
    "without_dropout",
]


def values(name: str, says: str, *calls: BertCall, examine: Examine | None = None) -> Probe:
    """Probe values: outputs and gradients, or random draws."""
    return Probe(name, "values", says, calls, examine)


def properties(name: str, says: str, *calls: BertCall, examine: Examine | None = None) -> Probe:
    """Probe special cases, such as an empty list."""
    return Probe(name, "properties", says, calls, examine)


def padding_around(what: str, *calls: BertCall) -> Probe:
    """Probe calls with padding before the tokens and, in every row, after them."""
    says = f"{what} is wrong where there is padding before the tokens, or in every row"
    return properties("padding around", says, *calls)


def small_numbers(what: str, *calls: BertCall) -> Probe:
    """Probe calls whose inputs expose the constant that is added to a variance."""
    return properties("small numbers", f"{what} is wrong where the variance is small", *calls)


def without_dropout(what: str, *calls: BertCall) -> Probe:
    """Probe training mode, for a part without dropout."""
    says = f"{what} has no dropout: training should give the same result as eval"
    return properties("training", says, *calls)


def seeds(what: str, call: BertCall) -> Probe:
    """Probe how a function uses the generator that it is given; `kind` is "seeds"."""
    says = f"{what} should depend on the generator that it is given, and on no other"
    return properties("generator", says, call, examine=Seeded(says))


def dropout_pattern(
    place: str,
    call: Callable[..., BertCall],
    count: int,
    measure: Callable[[Tensors, Tensors], np.ndarray],
    dropped: Callable[[Tensors, Tensors], np.ndarray],
) -> tuple[Probe, Probe]:
    """Probe which values training drops, and that eval drops none.

    Args:
        place: what should be dropped, in words.
        call: makes the call, from `train` and `dropout`.
        count: of the values that may be dropped.
        measure, dropped: `measure` and `values` of the toolkit's Dropout.
    """
    training = Dropout(place, RATE, count, measure, dropped)
    evaluation = Dropout(place, 0.0, count, measure)
    return (
        misplaced_dropout(
            "dropout pattern", call(train=True, twice=True, dropout=RATE), examine=training
        ),
        values(
            "pattern in eval",
            "dropout is active in eval mode",
            call(dropout=RATE),
            examine=evaluation,
        ),
    )
