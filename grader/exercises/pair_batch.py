"""Pairs of sentences as a batch: special tokens, segments, padding."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from grader.inputs import no_inputs
from tensormark.literals import packed
from tensormark.toolkit import Call, Tensors, exercise, probe

FIRST_TOKEN = 10  # ids below are special
LAST_TOKEN = 100  # ids from here on may be special
LONG = 6  # tokens of a sentence of the longest pair that is drawn, at least
# tokens of both sentences: the longest pair is neither the first nor the last, and its second
# sentence is not the longest
LENGTHS = ((4, 2), (5, 6), (1, 7))
LABELS = (0, 1, 1)
OUTPUTS = ("input_ids", "token_type_ids", "attention_mask", "next_sentence_label")
Pair = list[list[int] | int]  # two sentences and a label


def pairs_of(
    lengths: Iterable[Sequence[int]], labels: Iterable[int], tokens: Iterable[int]
) -> list[Pair]:
    """Return pairs of these lengths and labels, of these tokens in their order."""
    left = iter(tokens)
    return [
        [list(itertools.islice(left, first)), list(itertools.islice(left, second)), label]
        for (first, second), label in zip(lengths, labels, strict=True)
    ]


def draw_private(rng: np.random.Generator, call: Call) -> Tensors:
    """Draw as many pairs of other lengths, the longest one where it is in the public ones."""
    count = len(call.literals["pairs"])
    first, second = rng.integers(LONG, 2 * LONG, 2).tolist()
    short = rng.integers(1, LONG, 2).tolist()
    lengths = [[first, second]] if count == 1 else [short, [first, second], [1, second + 1]]
    labels = (rng.integers(2) + rng.permutation(count)) % 2
    tokens = rng.permutation(np.arange(FIRST_TOKEN, LAST_TOKEN)).tolist()
    return packed({"pairs": pairs_of(lengths, labels.tolist(), tokens)})


def batch(*lengths: tuple[int, int]) -> dict[str, Any]:
    """Return the fields of a call with pairs of these lengths; all their tokens differ."""
    pairs = pairs_of(lengths, LABELS[: len(lengths)], itertools.count(FIRST_TOKEN))
    return {"inputs": f"pairs {len(pairs)}", "literals": {"pairs": pairs}}


EXERCISE = exercise(
    "pair_batch",
    ("pairs", "*tokenizer"),
    no_inputs,
    draw_private=draw_private,
    order=220,
    title="pairs as a batch",
    points={"values": 3, "properties": 1},
    file="pretraining.py",
    extension=True,
    axes={2: ("row", "token")},
    call={"form": "dict", "returns": OUTPUTS},
    probes=(
        probe("batch", "values", "the batch is wrong", **batch(*LENGTHS)),
        probe("one pair", "properties", "the batch of a single pair is wrong", **batch((2, 3))),
        probe(
            "other ids",
            "properties",
            "the batch is wrong where special tokens have other ids",
            args=("pairs", "*tokenizer with other ids"),
            **batch(*LENGTHS),
        ),
    ),
)
