"""Calls of the five functions in three sizes, and what questions may say about changes to them.

Dimension key: B batch, T tokens, D model width.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.model import BertSizes
from tensormark.toolkit import Call, Tensors
from tensormark.viva.subject import Fact, Poke, at, depends, moved, rolled, spread

# every letter except layers, which take long to build, has three values; within a call, no two
# letters are equal; one call has B > T, and one has a column that is padding in every sentence
SIZES = (
    BertSizes(B=2, T=5, H=3, d=4, D=12, F=19, layers=2, V=23, positions=9, lengths=(5, 3)),
    BertSizes(B=4, T=3, H=2, d=6, D=12, F=7, layers=3, V=17, positions=5, lengths=(2, 3, 1, 3))
    | {"eps": 0.1},
    BertSizes(B=3, T=6, H=5, d=2, D=10, F=13, layers=2, V=31, positions=8, lengths=(4, 5, 2)),
)
BY_EPSILON = 0.25  # the most that an epsilon takes from a variance of 1
bert_call = functools.partial(Call, module="bert", constants=("attention_mask",))


def worlds(call: Callable[..., Call], **sizes: Any) -> tuple[Call, ...]:
    """Return the calls of a function, in the three sizes."""
    return tuple(
        call(sizes=default | sizes, dtype="float64", inputs="viva", gradients=True)
        for default in SIZES
    )


def training(call: Call, rate: float, path: str | None = None) -> Call:
    """Return a call in training mode.

    Args:
        path: of layers, whose two dropouts may then have different rates.
    """
    different = path is not None and rate < 1
    rates = {f"{path}out_dropout": rate / 2} if different else {}
    return replace(call, train=True, sizes=call.sizes | {"dropout": rate}, rates=rates)


# --- changes to inputs ----------------------------------------------------------------------


def other_padding(axes: Mapping[str, int]) -> Poke:
    """Change the content of the padding, along an axis of each input."""

    def poke(inputs: Tensors) -> Tensors:
        hidden = padding(inputs)
        changed = dict(inputs)
        for name, axis in axes.items():
            shape = [len(hidden)] + [1] * (inputs[name].ndim - 1)
            shape[axis] = hidden.shape[1]
            changed[name] = np.where(hidden.reshape(shape), 1.0 - inputs[name], inputs[name])
        return changed

    return poke


def padding(inputs: Tensors) -> np.ndarray:
    """Return which tokens are padding, (B, T), from an additive mask or one of 1 and 0."""
    mask = inputs["attention_mask"]
    rows = mask.reshape(len(mask), -1)
    return np.asarray(rows < 0 if (mask <= 0).all() else rows == 0)


def plain_norm(name: str) -> Poke:
    """Give a norm the weight 1 and the bias 0."""
    return lambda inputs: (
        inputs
        | {
            f"weights/{name}.weight": np.ones_like(inputs[f"weights/{name}.weight"]),
            f"weights/{name}.bias": np.zeros_like(inputs[f"weights/{name}.bias"]),
        }
    )


# --- facts about results (B, T, D) ----------------------------------------------------------


def not_normalized(
    inputs: Tensors, poked: Tensors, before: np.ndarray, after: np.ndarray
) -> np.ndarray:
    """Return how far each token's result is from mean 0 and variance 1.

    A variance below 1 is allowed as far as the norm's epsilon may cause it.
    """
    return np.stack([after.mean(-1), np.maximum(np.abs(after.var(-1) - 1.0) - BY_EPSILON, 0.0)])


def not_ones(inputs: Tensors, poked: Tensors, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return how far results are from 1."""
    return after - 1.0


def tokens_moved(result: np.ndarray) -> np.ndarray:
    """Move the tokens of a result (B, T, D) by one."""
    return np.roll(result, 1, 1)


OTHER_TOKENS = depends(lambda inputs: (0, slice(1, None)))
OTHER_SENTENCES = spread(lambda changed: int(changed.any((1, 2)).sum()), lambda inputs: 1)
BEYOND_A_TOKEN = spread(lambda changed: int(changed.any(2).sum()), lambda inputs: 1)
MIXED = "Sentences of a batch now affect each other's results."
PADDED = "The content of padding now affects the tokens' results."
PLACED = "The position of a token in its sentence now matters."
APART = "A token's result no longer depends on other tokens."
TOGETHER = "A token's result now depends on other tokens."
UNNORMALIZED = "Results are no longer normalized by"


def unlike_a_norm(name: str) -> Fact:
    """Return the fact that results are no longer what a norm returns."""
    return Fact(plain_norm(name), not_normalized, gained=f"{UNNORMALIZED} `{{{name}}}`.")


def mixing(*names: str) -> Fact:
    """Return the fact that a change to one sentence of these inputs changes others' results."""
    return Fact(at((0,), *names), OTHER_SENTENCES, gained=MIXED)


def ignoring(poke: Poke, lost: str) -> Fact:
    """Return the fact, in these words, that a change to inputs no longer changes results."""
    return Fact(poke, depends(), lost=lost)


def over_tokens(states: Sequence[str], axes: Mapping[str, int]) -> tuple[Fact, ...]:
    """Return the facts about a function in which tokens attend to each other."""
    first_token = (0, *[slice(None)] * (axes[states[0]] - 1), 0)
    read = {name: axis for name, axis in axes.items() if name != "attention_mask"}
    return (
        Fact(other_padding(read), depends(lambda inputs: ~padding(inputs)), gained=PADDED),
        Fact(at(first_token, *states), OTHER_TOKENS, lost=APART),
        Fact(rolled(axes), moved(tokens_moved), gained=PLACED),
        mixing(*states),
    )
