"""The review language and the data generated with it."""

import itertools
import random

import pytest

from instructor.language.baselines import n_gram_accuracy, parse
from instructor.language.grades import EVERY, GradedWriter, ceiling, chances
from instructor.language.grammar import Writer
from instructor.language.lexicon import FILMS, HALF, QUARTER, WHOLE
from instructor.language.write_data import DATA, SIZES, draw_grades, main

FILM = FILMS[0]


@pytest.fixture(scope="module")
def splits():
    return {name: parse((DATA / f"{name}.txt").read_text("utf-8")) for name in SIZES}


def test_committed_data_are_the_grammars_output(capsys):
    assert main(["--check"]) == 0, capsys.readouterr().out


def test_splits_are_balanced_and_have_no_sentence_in_common(splits):
    everything = [sentence for _, sentence in itertools.chain(*splits.values())]

    assert len(set(everything)) == len(everything)
    for name, split in splits.items():
        assert len(split) == SIZES[name]
        assert 2 * sum(label for label, _ in split) == len(split)


def test_the_training_split_uses_its_half_of_the_opinion_words(splits):
    assert 2 * len(HALF.words()) == len(WHOLE.words())  # as the handout says
    for name, split in splits.items():
        words = " ".join(sentence for _, sentence in split).split()
        expected = HALF if name == "train" else WHOLE
        assert WHOLE.words().intersection(words) == expected.words()


def test_graded_training_sentences_lack_most_opinion_words():
    for name, phrases in draw_grades(7)[0].items():
        words = " ".join(phrase.words for phrase in phrases).split()
        expected = QUARTER if name == "train" else EVERY
        assert EVERY.words().intersection(words) == expected.words()
        assert {phrase.grade for phrase in phrases} == {0, 1, 2, 3, 4}


def test_no_text_to_pretrain_on_rates_a_test_sentence():
    tests = (DATA / "grades/test.txt").read_text("utf-8").splitlines()
    rated = (DATA / "grades/pretraining.txt").read_text("utf-8")

    assert not [line for line in tests if f"\n{line.partition('||| ')[2][:-1]}: " in rated]


def test_the_ceiling_is_what_the_best_guess_reaches():
    writer = GradedWriter(random.Random(4), WHOLE)
    phrases = [writer.sentence(FILM) for _ in range(4000)]

    best = [max(range(5), key=chances(phrase.value).__getitem__) for phrase in phrases]

    right = sum(guess == p.grade for guess, p in zip(best, phrases, strict=True)) / len(phrases)
    assert right == pytest.approx(ceiling(phrases), abs=0.02)
    assert chances(0.5) == pytest.approx([0, 0, 0.5, 0.5, 0], abs=1e-5)


@pytest.mark.slow
def test_bags_of_n_grams_stay_near_chance(splits):
    (accuracy,) = n_gram_accuracy(3, splits["train"], [splits["dev"]])

    assert accuracy < 0.68


def read_clause(words):
    """Compute a clause's value by hand: its last word's sign, reversed by these phrases."""
    turns = ("is not", "never", "hardly", "far from", "anything but", "be less", "fails to be")
    turns = (*turns, "is free of", " lacks", "has no", "is without")
    last = words.split()[-1]
    sign = 1 if last in (*WHOLE.adjectives[1], *WHOLE.nouns[1]) else -1
    keeps_sign = any(turn in words for turn in ("never fails", "never runs", "nothing but"))
    return -sign if not keeps_sign and any(turn in words for turn in turns) else sign


def test_the_main_clause_decides_a_contrast():
    writer = Writer(random.Random(3), WHOLE)
    for phrase in (writer.contrast(FILM.title) for _ in range(300)):
        first, _, second = phrase.words.partition(" , ")
        clause = first
        if second.startswith(("but ", "yet ")):
            clause = second.partition(" ")[2]
        elif first.startswith(("although", "even though")):
            clause = second

        assert read_clause(clause) == phrase.value
