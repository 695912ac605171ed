"""Pre-training: its heads and loss, its pairs of one film, and resuming a killed run."""

import random

import pytest
import torch

from instructor.pretraining.training_loop import (
    PretrainingSettings,
    make_run,
    same_film_pairs,
    train,
)
from pretraining import IS_NEXT, NOT_NEXT
from tokenizer import SPECIAL_TOKENS, BertTokenizer, wordpiece

WORDS = ("good", "bad", "film", "plot", "is", "the", ".")
TINY = PretrainingSettings(
    width=8, heads=2, layers=1, feed_forward=16, phases=(0, 0, 0, 8), batch=4, report=2, snapshot=2
)


@pytest.fixture
def new_run():
    """Make the same tiny run again and again."""
    pieces = [*SPECIAL_TOKENS, *WORDS]
    tokenizer = BertTokenizer(wordpiece({piece: number for number, piece in enumerate(pieces)}))
    rng = random.Random(3)
    reviews = [[[rng.randrange(5, 12) for _ in range(5)] for _ in range(3)] for _ in range(12)]

    def make():
        return make_run(
            TINY, tokenizer, [{}, {}, {}, {"harbor": reviews[:8], "ember": reviews[8:]}]
        )

    return make


def test_a_killed_run_ends_with_the_same_weights(new_run, tmp_path):
    uninterrupted, killed, resumed = (new_run() for _ in range(3))
    snapshot = tmp_path / "snapshots" / "last.pt"
    list(train(uninterrupted, tmp_path / "other.pt"))
    steps = train(killed, snapshot)
    while killed.step < 5:
        next(steps)

    resumed.resume(snapshot)
    begun = resumed.step
    list(train(resumed, snapshot))

    assert (begun, resumed.step) == (4, TINY.steps)
    assert resumed.curve == uninterrupted.curve
    for name, value in uninterrupted.model.state_dict().items():
        assert torch.equal(value, resumed.model.state_dict()[name]), name


def test_second_sentences_are_about_the_same_film():
    films = {"harbor": [[[5, 5], [5]], [[5], [5, 5]]], "ember": [[[6], [6]]] * 30}

    pairs = same_film_pairs(films.values(), random.Random(1), 64)

    assert {label for _, _, label in pairs} == {IS_NEXT, NOT_NEXT}
    assert all(len({*first, *second}) == 1 for first, second, _ in pairs)  # tokens of one film
