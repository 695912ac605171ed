"""Pairs of sentences as a batch: special tokens, segments, padding."""

import numpy as np

from grader.assignment.model import BertCall
from grader.exercise import Exercise, Probe, Tensors

FIRST_TOKEN = 10  # ids below are special
LENGTHS = ((4, 2), (1, 3), (5, 6))  # tokens of both sentences; the last pair is the longest
LABELS = (0, 1, 1)
OUTPUTS = ("input_ids", "token_type_ids", "attention_mask", "next_sentence_label")


def draw(rng: np.random.Generator, call: BertCall) -> Tensors:
    """Return nothing: the pairs are literals."""
    return {}


def batch(lengths: tuple[tuple[int, int], ...], labels: tuple[int, ...]) -> tuple[BertCall]:
    """Return a call with pairs of these lengths; all their tokens differ."""
    pairs: list[list[list[int] | int]] = []
    token = FIRST_TOKEN
    for (first, second), label in zip(lengths, labels, strict=True):
        middle, end = token + first, token + first + second
        pairs.append([list(range(token, middle)), list(range(middle, end)), label])
        token = end
    return (
        BertCall(
            "pair_batch",
            ("pairs", "*tokenizer"),
            kind="function",
            module="pretraining",
            literals={"pairs": pairs},
            returns=OUTPUTS,
            form="dict",
        ),
    )


EXERCISE = Exercise(
    id="pair_batch",
    order=220,
    title="pairs as a batch",
    points={"values": 3, "properties": 1},
    draw=draw,
    file="pretraining.py",
    extension=True,
    probes=(
        Probe("batch", "values", "the batch is wrong", batch(LENGTHS, LABELS)),
        Probe(
            "one pair", "properties", "the batch of a single pair is wrong", batch(((2, 3),), (0,))
        ),
    ),
)
