"""Probes shared by several exercises, besides the toolkit's."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.model import AROUND, MAIN, ONE_TOKEN, ROWS
from tensormark.toolkit import Call, Sizes, Tensors, probe
from tensormark.toolkit.dropout import ANCHORS, RATE, Dropout, numbers, undone
from tensormark.toolkit.probes import Case, Given, other_sizes, second_call, stood_in
from tensormark.toolkit.seeds import Seeded

Measure = Callable[[Tensors, Tensors], np.ndarray]  # of outputs and inputs

# of inputs that show what is dropped before a residual is added, and how many values may be dropped
RATES = {"dropout": RATE, "attention_dropout": 0.0}
RESIDUAL = MAIN | RATES | {"B": 8, "T": 8, "d": 11, "D": 22, "lengths": (8,) * 8}
DROPOUT_CANDIDATES = RESIDUAL.B * RESIDUAL.T * (RESIDUAL.D - len(ANCHORS))


def added_to(name: str) -> Measure:
    """Return what finds what was added to this input: 0 where it was dropped."""
    return lambda outputs, inputs: undone(outputs["output"], inputs[name])


def counting(dropped: Measure) -> Measure:
    """Return what computes the statistics `kept`, `factor`, `broken` and `zero` of dropout.py."""
    return lambda outputs, inputs: numbers(dropped(outputs, inputs))


def padding_around(what: str, **fields: Any) -> Case:
    """Probe a second call, with padding before the tokens and, in every row, after them."""
    says = f"{what} is wrong where there is padding before the tokens, or in every row"
    return second_call(says, sizes=AROUND, **fields)


def many_rows(what: str, **fields: Any) -> Case:
    """Probe many rows, half of them with padding."""
    return other_sizes(what, ROWS, "many rows", **fields)


def one_token(what: str, **fields: Any) -> Case:
    """Probe rows of a single token."""
    return other_sizes(what, MAIN | ONE_TOKEN, "rows of one token", **fields)


def small_numbers(what: str, name: str = "small numbers", **fields: Any) -> Case:
    """Probe inputs that expose the constant that is added to a variance."""
    says = f"{what} is wrong where the variance is small"
    return probe(name, "properties", says, inputs="quiet", dtype="float64", **fields)


def own_gradients(given: Given) -> Callable[[Call], tuple[Call, ...]]:
    """Return what makes a probe's calls, with gradients for that without stand-ins only."""

    def calls(call: Call) -> tuple[Call, ...]:
        own, *stood = stood_in(call, given)
        return (dataclasses.replace(own, gradients=True), *stood)

    return calls


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
    says = "the output is wrong in training"
    fields = {"train": True, "twice": True, **fields}
    return probe(name, "training", says, examine=examine, **fields)


def dropout_pattern(
    place: str, sizes: Sizes, count: int, measure: Measure, dropped: Measure, **fields: Any
) -> Case:
    """Probe which values training drops.

    Args:
        place: what should be dropped, in words.
        sizes: of the inputs "pattern"; one of its two rates is RATE, the other one 0.
        count: of the values that may be dropped.
        measure, dropped: `measure` and `values` of the toolkit's Dropout.
    """
    examine = Dropout(place, RATE, count, measure, dropped)
    return misplaced_dropout("dropout pattern", examine, inputs="pattern", sizes=sizes, **fields)
