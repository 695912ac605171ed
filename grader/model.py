"""Calls of a small BERT, with its sizes and config, and the probes that several exercises have."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tensormark.exercise import Call, Examine, Probe, Tensors
from tensormark.toolkit.dropout import RATE, Dropout


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The sizes of a small random model and its input; all distinct, to expose confused axes.

    B batch, T tokens, H heads, d head width, F feed-forward width, V vocabulary.
    """

    B: int = 3
    T: int = 7
    H: int = 2
    d: int = 5
    F: int = 17
    layers: int = 3
    V: int = 29
    positions: int = 11
    lengths: tuple[int, ...] = (7, 4, 1)  # tokens that are not padding, by row

    @property
    def D(self) -> int:
        """The width of the model."""
        return self.H * self.d

    def config(self, dropout: float) -> dict[str, Any]:
        """Return the arguments of a BertConfig of these sizes."""
        return {
            "vocab_size": self.V,
            "hidden_size": self.D,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.H,
            "intermediate_size": self.F,
            "max_position_embeddings": self.positions,
            "hidden_dropout_prob": dropout,
            "attention_probs_dropout_prob": dropout,
        }


OTHER_SIZES = Sizes(B=1, T=4, H=3, d=2, F=11, layers=2, V=13, positions=5, lengths=(3,))


@dataclasses.dataclass(frozen=True)
class BertCall(Call):
    """A call of a class or a function of the submission.

    Attributes:
        sizes: of the model and the inputs; the model's are ignored with `checkpoint`.
        dropout: the rate of every dropout module, unless `rates` says otherwise.
    """

    module: str = "bert"
    sizes: Sizes = Sizes()
    dropout: float = 0.1
    constants: tuple[str, ...] = ("attention_mask",)

    def message(self) -> dict[str, Any]:
        """Return the call as the JSON object sent to the worker."""
        return super().message() | {"config": self.sizes.config(self.dropout)}


def value_probe(name: str, says: str, *calls: BertCall, examine: Examine | None = None) -> Probe:
    """Probe values: of outputs and gradients, or of what is drawn."""
    return Probe(name, "values", says, calls, examine)


def property_probe(name: str, says: str, *calls: BertCall, examine: Examine | None = None) -> Probe:
    """Probe what has to be right besides the usual case, such as an empty list."""
    return Probe(name, "properties", says, calls, examine)


def other_sizes(what: str, *calls: BertCall) -> Probe:
    """Probe calls of other sizes, in float64."""
    return property_probe("other sizes", f"{what} is wrong for other sizes or in float64", *calls)


def small_numbers(what: str, *calls: BertCall) -> Probe:
    """Probe calls whose inputs show what is added to a variance."""
    return property_probe("small numbers", f"{what} is wrong where the variance is small", *calls)


def second_call(*calls: BertCall) -> Probe:
    """Probe a second call of the same function."""
    says = "a second call gives a wrong output: something is kept from the first"
    return property_probe("second call", says, *calls)


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
        value_probe(
            "pattern in eval",
            "dropout is active in eval mode",
            call(dropout=RATE),
            examine=evaluation,
        ),
    )
