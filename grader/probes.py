"""The probes that several exercises have."""

from collections.abc import Callable

import numpy as np

from grader.model import BertCall
from tensormark.exercise import Examine, Probe, Tensors
from tensormark.toolkit.dropout import RATE, Dropout


def values(name: str, says: str, *calls: BertCall, examine: Examine | None = None) -> Probe:
    """Probe values: of outputs and gradients, or of what is drawn."""
    return Probe(name, "values", says, calls, examine)


def properties(name: str, says: str, *calls: BertCall, examine: Examine | None = None) -> Probe:
    """Probe what has to be right besides the usual case, such as an empty list."""
    return Probe(name, "properties", says, calls, examine)


def other_sizes(what: str, *calls: BertCall) -> Probe:
    """Probe calls of other sizes, in float64."""
    return properties("other sizes", f"{what} is wrong for other sizes or in float64", *calls)


def small_numbers(what: str, *calls: BertCall) -> Probe:
    """Probe calls whose inputs show what is added to a variance."""
    return properties("small numbers", f"{what} is wrong where the variance is small", *calls)


def second_call(*calls: BertCall) -> Probe:
    """Probe a second call of the same function."""
    says = "a second call gives a wrong output: something is kept from the first"
    return properties("second call", says, *calls)


def no_dropout(*calls: BertCall) -> Probe:
    """Probe training with a dropout rate of 0."""
    says = "with a dropout rate of 0, training should give the same result as eval"
    return Probe("no dropout", "training", says, calls)


def misplaced_dropout(name: str, *calls: BertCall, examine: Dropout | None = None) -> Probe:
    """Probe where training drops."""
    says = "dropout in training is not where it should be"
    return Probe(name, "training", says, calls, examine)


def dropout_pattern(
    place: str,
    call: Callable[..., BertCall],
    count: int,
    measure: Callable[[Tensors, Tensors], np.ndarray],
) -> tuple[Probe, Probe]:
    """Probe which values training drops, and that eval drops none.

    Args:
        place: what should be dropped, in words.
        call: makes the call, from `train` and `dropout`.
        count: of the values that may be dropped.
    """
    training, evaluation = (Dropout(place, rate, count, measure) for rate in (RATE, 0.0))
    return (
        misplaced_dropout("dropout pattern", call(train=True, dropout=RATE), examine=training),
        values(
            "pattern in eval",
            "dropout is active in eval mode",
            call(dropout=RATE),
            examine=evaluation,
        ),
    )
