"""Pairs of sentences as a batch: special tokens, segments, padding."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from grader import probes
from grader.inputs import no_inputs
from grader.model import BertCall
from tensormark.exercise import Exercise, Tensors
from tensormark.literals import packed

FIRST_TOKEN, LAST_TOKEN = 10, 100  # ids below are special, and those from 100 on may be
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


def draw_private(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Draw as many pairs of other lengths, the longest one where it is in the public ones."""
    count = len(call.literals["pairs"])
    first, second = rng.integers(LONG, 2 * LONG, 2).tolist()
    short = rng.integers(1, LONG, 2).tolist()
    lengths = [[first, second]] if count == 1 else [short, [first, second], [1, second + 1]]
    labels = (rng.integers(2) + rng.permutation(count)) % 2
    tokens = rng.permutation(np.arange(FIRST_TOKEN, LAST_TOKEN)).tolist()
    return packed({"pairs": pairs_of(lengths, labels.tolist(), tokens)})


def batch(
    lengths: tuple[tuple[int, int], ...], labels: tuple[int, ...], tokenizer: str = "*tokenizer"
) -> BertCall:
    """Return a call with pairs of these lengths; all their tokens differ."""
    pairs = pairs_of(lengths, labels, itertools.count(FIRST_TOKEN))
    return BertCall(
        "pair_batch",
        ("pairs", tokenizer),
        "pretraining",
        inputs=f"pairs {len(pairs)}",
        kind="function",
        literals={"pairs": pairs},
        returns=OUTPUTS,
        form="dict",
    )


EXERCISE = Exercise(
    id="pair_batch",
    order=220,
    title="pairs as a batch",
    points={"values": 3, "properties": 1},
    draw=no_inputs,
    draw_private=draw_private,
    file="pretraining.py",
    extension=True,
    axes={2: ("row", "token")},
    probes=(
        probes.values("batch", "the batch is wrong", batch(LENGTHS, LABELS)),
        probes.properties(
            "one pair", "the batch of a single pair is wrong", batch(((2, 3),), (0,))
        ),
        probes.properties(
            "other ids",
            "the batch is wrong where special tokens have other ids",
            batch(LENGTHS, LABELS, "*tokenizer with other ids"),
        ),
    ),
)
